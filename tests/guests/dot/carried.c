// Floats carried through general registers by other moves than mov: on a condition, over the stack, in exchange, with their
// bytes reversed, by parts; and the next float in sequence. Each so often that its code is made anew.
//@ float, double: the instructions' operands have its width
#include "check.h"

enum { ROUNDS = 99 };
#if KIND == 4
typedef uint32_t word;
#else
typedef uint64_t word;
#endif

static word bits_of(real x)
{
    word bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static real real_of(word bits)
{
    real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Eight bytes over the stack, from memory and to memory. */
static real pushed(real x)
{
    volatile real from[2] = {x, x}, to[2] = {0, 0};
    __asm__ volatile("lea -256(%%rsp), %%rsp\n\t"
                     "push (%0)\n\t"
                     "pop (%1)\n\t"
                     "lea 256(%%rsp), %%rsp"
                     :
                     : "r"(from), "r"(to)
                     : "memory");
    return to[0] + to[1];
}

#define CHOSEN(name, constraint)                                                                  \
    static real name(real x, real y, int second)                                                  \
    {                                                                                             \
        word bits = bits_of(x), other = bits_of(y);                                               \
        __asm__ volatile("test %2, %2\n\tcmovnz %1, %0"                                           \
                         : "+r"(bits)                                                             \
                         : constraint(other), "r"(second)                                         \
                         : "cc");                                                                 \
        return real_of(bits);                                                                     \
    }
CHOSEN(chosen, "r")
CHOSEN(chosen_loaded, "m")

static real exchanged(real x, real y)
{
    word first = bits_of(x), second = bits_of(y);
    __asm__ volatile("xchg %1, %0" : "+r"(first), "+r"(second));
    return real_of(first) - 2 * real_of(second);
}

static real reversed(real x)
{
    volatile word between = bits_of(x);
    word bits = between;
    __asm__ volatile("bswap %0" : "+r"(bits));
    between = bits;
    bits = between;
    __asm__ volatile("bswap %0" : "+r"(bits));
    return real_of(bits);
}

/* What a load reverses, a store does again. */
static real reversed_between(real x)
{
    volatile word from = bits_of(x), to = 0;
    word bits;
    __asm__ volatile("movbe %1, %0" : "=r"(bits) : "m"(from));
    __asm__ volatile("movbe %1, %0" : "=m"(to) : "r"(bits));
    return real_of(to);
}

static real reversed_by_bytes(real x)
{
    volatile real from = x, to = 0;
    volatile unsigned char there[sizeof x];
    volatile unsigned char *in = (volatile unsigned char *)&from, *out = (volatile unsigned char *)&to;
    for (unsigned i = 0; i < sizeof x; i++) there[sizeof x - 1 - i] = in[i];
    for (unsigned i = 0; i < sizeof x; i++) out[sizeof x - 1 - i] = there[i];
    return to;
}

/* Sign and exponent go through a register that is wider, and come back as they were. */
static real through_wider(real x, unsigned none)
{
    volatile real at = x;
    volatile uint16_t *end = (volatile uint16_t *)&at + sizeof x / 2 - 1;
    unsigned word_of_it;
    __asm__ volatile("movzwl %1, %0" : "=r"(word_of_it) : "m"(*end));
    __asm__ volatile("or %1, %0\n\txor %1, %0" : "+r"(word_of_it) : "r"(none) : "cc");
    __asm__ volatile("movw %w1, %0" : "=m"(*end) : "r"(word_of_it));
    return at;
}

#define NEXT(name, instructions)                                                                  \
    static real name(real x)                                                                      \
    {                                                                                             \
        word bits = bits_of(x), none = 0;                                                         \
        __asm__ volatile(instructions : "+r"(bits) : "r"(none) : "cc");                           \
        return real_of(bits);                                                                     \
    }
NEXT(increased, "inc %0")
NEXT(decreased, "dec %0")
NEXT(carried, "stc\n\tadc %1, %0")
NEXT(borrowed, "stc\n\tsbb %1, %0")
NEXT(next_by_constant, "add $3, %0")

static void checks(void)
{
    SUM("pushed", pushed(x), 8 / sizeof x);
    SUM("chosen", chosen(x, 3 * x, i % 3), i % 3 ? 3 : 1);
    SUM("chosen_loaded", chosen_loaded(x, 3 * x, i % 2), i % 2 ? 3 : 1);
    SUM("chosen_constant", chosen(x, 1, i % 2), !(i % 2));
    SUM("constant_chosen", chosen_loaded(1, x, i % 2), i % 2);
    SUM("exchanged", exchanged(x, 3 * x), 1);
    SUM("exchanged_constant", exchanged(x, 1), -2);
    SUM("reversed", reversed(x), 1);
    SUM("reversed_between", reversed_between(x), 1);
    SUM("reversed_by_bytes", reversed_by_bytes(x), 1);
    SUM("through_wider", through_wider(x, 0), 1);
    SUM("increased", increased(x), 1);
    SUM("decreased", decreased(x), 1);
    SUM("carried", carried(x), 1);
    SUM("borrowed", borrowed(x), 1);
    SUM("next_by_constant", next_by_constant(x), 1);
}
