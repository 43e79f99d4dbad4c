// Floats taken apart and put together in general registers, each way so often that its code is made anew: exponents added to,
// cut out and put in, bytes turned round, bits turned over and back.
//@ float and double: the tricks know the layout of the IEEE formats
#include "check.h"

#if KIND == 4
typedef uint32_t bits_type;
enum { SIGNIFICAND = 23, BIAS = 127, ROUNDS = 100 };
#else
typedef uint64_t bits_type;
enum { SIGNIFICAND = 52, BIAS = 1023, ROUNDS = 100 };
#endif
enum { WIDTH = 8 * sizeof(bits_type), EXPONENTS = 2 * BIAS + 1 };
#define SIGN ((bits_type)1 << (WIDTH - 1))
#define FRACTION (((bits_type)1 << SIGNIFICAND) - 1)

/* No compiler knows what is in a register. */
static bits_type opaque(bits_type bits)
{
    __asm__ volatile("" : "+r"(bits));
    return bits;
}

static bits_type bits_of(real x)
{
    bits_type bits;
    memcpy(&bits, &x, sizeof bits);
    return opaque(bits);
}

static real real_of(bits_type bits)
{
    real x;
    bits = opaque(bits);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static real added(real x) { return real_of(bits_of(x) + ((bits_type)3 << SIGNIFICAND)); }
static real added_as_it_comes(real x, int n) { return real_of(bits_of(x) + (opaque(n) << SIGNIFICAND)); }
static real taken_off(real x) { return real_of(bits_of(x) - (opaque(2) << SIGNIFICAND)); }
static real magnitude(real x) { return real_of(bits_of(x) & opaque(~SIGN)); }
static real opposite(real x) { return real_of(bits_of(x) ^ opaque(SIGN)); }

/* As by frexp and ldexp: to [1, 2), and back with an exponent one less. */
static real mantissa(real x)
{
    return real_of(opaque(bits_of(x) & opaque(FRACTION | SIGN)) | opaque((bits_type)BIAS << SIGNIFICAND));
}

/* The exponent put in by an exclusive disjunction, with another sign. */
static real mantissa_turned(real x)
{
    const bits_type given = (bits_type)(BIAS + 1) << SIGNIFICAND | SIGN;
    return real_of(opaque(bits_of(x) & opaque(FRACTION | SIGN)) ^ opaque(given));
}

/* All bits of the exponent but the first are set; that one is cleared, and so is the sign: between the two, numbers from 2 on are
   no numbers. */
static real mantissa_set(real x)
{
    return real_of(opaque(bits_of(x) | opaque((bits_type)BIAS << SIGNIFICAND)) & opaque(~(SIGN | SIGN >> 1)));
}

/* In vectors, where the width of the lanes is not that of the instruction. */
#define IN_VECTORS(name, made)                                                              \
    static __attribute__((noinline)) void name##_in_place(real *x)                          \
    {                                                                                       \
        for (int i = 0; i < 8; i++) {                                                       \
            bits_type bits;                                                                 \
            memcpy(&bits, &x[i], sizeof bits);                                              \
            bits = made;                                                                    \
            memcpy(&x[i], &bits, sizeof bits);                                              \
        }                                                                                   \
    }                                                                                       \
    static real name(real x)                                                                \
    {                                                                                       \
        real eight[8];                                                                      \
        for (int i = 0; i < 8; i++)                                                         \
            eight[i] = x;                                                                   \
        name##_in_place(eight);                                                             \
        return eight[0] + eight[5] - eight[2];                                              \
    }
#define GIVEN ((bits_type)(BIAS + 1) << SIGNIFICAND)
IN_VECTORS(joined, (bits & (FRACTION | SIGN)) | GIVEN)
IN_VECTORS(turned, (bits & (FRACTION | SIGN)) ^ GIVEN)
IN_VECTORS(set, (bits | (bits_type)BIAS << SIGNIFICAND) & ~(SIGN | SIGN >> 1))

static real halved(real x)
{
    bits_type bits = bits_of(x), exponent = opaque(bits >> SIGNIFICAND) & EXPONENTS;
    return real_of(opaque(bits & opaque(FRACTION | SIGN)) | (opaque(exponent - 1) << SIGNIFICAND));
}

static real turned_round(real x)
{
    bits_type bits = bits_of(x);
    bits = opaque(bits << 8 | bits >> (WIDTH - 8));
    return real_of(bits << (WIDTH - 8) | bits >> 8);
}

/* The order of floats as that of integers, and back. */
static real ordered(real x)
{
    bits_type key = bits_of(x), mask = key >> (WIDTH - 1) ? ~(bits_type)0 : SIGN;
    key = opaque(key ^ opaque(mask));
    return real_of(key ^ opaque(mask));
}

static int exponent_of(wide x)
{
    int exponent;
    frexpl(x, &exponent);
    return exponent - 1;
}

static void checks(void)
{
    SUM("added", added(x), 8);
    SUM("added_as_it_comes", added_as_it_comes(x, i % 5), 1 << i % 5);
    SUM("taken_off", taken_off(x), 0.25L);
    SUM("magnitude", magnitude(x), w < 0 ? -1 : 1);
    SUM("opposite", opposite(x), -1);
    SUM("mantissa", mantissa(x), ldexpl(1, -exponent_of(w)));
    SUM("halved", halved(x), 0.5L);
    SUM("turned_round", turned_round(x), 1);
    SUM("ordered", ordered(x), 1);
    SUM("mantissa_turned", mantissa_turned(x), -ldexpl(2, -exponent_of(w)));
    SUM("mantissa_set", mantissa_set(x), ldexpl(w < 0 ? -1 : 1, -exponent_of(w)));
    SUM("mantissas_set", set(x), ldexpl(w < 0 ? -1 : 1, -exponent_of(w)));
    SUM("mantissas_joined", joined(x), ldexpl(2, -exponent_of(w)));
    SUM("mantissas_turned", turned(x), ldexpl(2, -exponent_of(w)));
}
