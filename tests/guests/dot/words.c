/* Doubles as two words, as mathematical functions have them that were written for processors of 32 bits: the upper one is shifted, cut,
 * summed with a carry into the exponent, and put back. */
#include "check.h"

static inline uint64_t bits_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double double_of(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint32_t upper(double x) { return (uint32_t)(bits_of(x) >> 32); }
static inline double with(double x, uint32_t word) { return double_of((uint64_t)word << 32 | (uint32_t)bits_of(x)); }

#define WORD(name, change)                                   \
    static __attribute__((noinline)) double name(double x)   \
    {                                                        \
        uint32_t h = upper(x);                               \
        change;                                              \
        return with(x, h);                                   \
    }
/* As above, with the word in memory. */
#define MEMORY(name, change)                                 \
    static __attribute__((noinline)) double name(double x)   \
    {                                                        \
        union {                                              \
            double d;                                        \
            uint32_t w[2];                                   \
        } p = {x};                                           \
        uint32_t h = p.w[1];                                 \
        change;                                              \
        p.w[1] = h;                                          \
        return p.d;                                          \
    }
/* To [0.5, 1), [1, 2) and, by the carry of a sum, to 1/sqrt(2) and the double of that. */
#define HALVED h = (h & 0xfffff) | 0x3fe00000
#define CUT h = (h & 0xfffff) | 0x3ff00000
#define CARRIED                                              \
    h += 0x3ff00000 - 0x3fe6a09e;                            \
    h = (h & 0xfffff) + 0x3fe6a09e
#define CHOSEN                                               \
    h &= 0xfffff;                                            \
    h |= ((h + 0x95f64) & 0x100000) ^ 0x3ff00000
#define TAKEN_OFF h -= (h - 0x3fe6a09e) & 0xfff00000

WORD(halved, HALVED)
WORD(cut, CUT)
WORD(carried, CARRIED)
WORD(chosen, CHOSEN)
WORD(taken_off, TAKEN_OFF)
WORD(scaled, h += 3 << 20)
MEMORY(memory_halved, HALVED)
MEMORY(memory_carried, CARRIED)
MEMORY(memory_chosen, CHOSEN)
MEMORY(memory_taken_off, TAKEN_OFF)
MEMORY(memory_scaled, h += 3 << 20)

/* log1p's argument, as musl has it: 1 + x as a fraction and a power, of which the latter is used as well. */
static __attribute__((noinline)) double fraction(double x)
{
    uint32_t h = upper(x) + (0x3ff00000 - 0x3fe6a09e);
    int power = (int)(h >> 20) - 0x3ff;
    h = (h & 0xfffff) + 0x3fe6a09e;
    return with(x, h) - 1 + power;
}

/* A word that goes elsewhere and comes back. */
static __attribute__((noinline, noipa)) uint32_t summed(uint32_t h) { return h + (0x3ff00000 - 0x3fe6a09e); }
static __attribute__((noinline, noipa)) uint32_t cut_out(uint32_t h) { return h & 0xfffff; }
static __attribute__((noinline, noipa)) uint32_t given(uint32_t h) { return h + 0x3fe6a09e; }
static __attribute__((noinline)) double elsewhere(double x) { return with(x, given(cut_out(summed(upper(x))))); }

static wide power_below(wide x) { return exp2l(floorl(log2l(fabsl(x)))); }
/* The power that leaves [1/sqrt(2), sqrt(2)). */
static wide power_near(wide x) { return exp2l(floorl(log2l(fabsl(x)) + 0.5L)); }

#define SOME 1.7, 0.3, 3.3, 248.1, 0.05, 5.1
static void checks(void)
{
    for (int i = 0; i < 40; i++) {
        AT("halved", halved(1.1 * x), 0.55L / power_below(1.1L * w), SOME);
        AT("cut", cut(1.1 * x), 1.1L / power_below(1.1L * w), SOME);
        AT("carried", carried(1.1 * x), 1.1L / power_near(1.1L * w), SOME);
        AT("chosen", chosen(1.1 * x), 1.1L / power_near(1.1L * w), SOME);
        AT("taken-off", taken_off(1.1 * x), 1.1L / power_near(1.1L * w), SOME);
        AT("scaled", scaled(1.1 * x), 8.8L, SOME);
        AT("memory-halved", memory_halved(1.1 * x), 0.55L / power_below(1.1L * w), SOME);
        AT("memory-carried", memory_carried(1.1 * x), 1.1L / power_near(1.1L * w), SOME);
        AT("memory-chosen", memory_chosen(1.1 * x), 1.1L / power_near(1.1L * w), SOME);
        AT("memory-taken-off", memory_taken_off(1.1 * x), 1.1L / power_near(1.1L * w), SOME);
        AT("memory-scaled", memory_scaled(1.1 * x), 8.8L, SOME);
        AT("elsewhere", elsewhere(1.1 * x), 1.1L / power_near(1.1L * w), SOME);
        AT("fraction", fraction(1.1 * x), 1.1L / power_near(1.1L * w), SOME);
    }
}
