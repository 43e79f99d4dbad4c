// Sums with a term that is as large as the numbers whose addition rounds, and was computed: in the same block or another, in
// a loop that reaches it, and by what is done with the sum. The constant itself is in the file, and rounds.
#include "check.h"

#if KIND == 4
#define WHOLE 8388608.0L
#elif KIND == 8
#define WHOLE 4503599627370496.0L
#else
#define WHOLE 9223372036854775808.0L
#endif

/* Not known to the compiler. */
static real opaque(wide value)
{
    volatile real kept = (real)value;
    return kept;
}

/* The number that rounds, as a constant. */
static real rounded(real x)
{
    real sum = x + (real)(1.5L * WHOLE);
#if KIND == 10
    __asm__ volatile("" : "+t"(sum));
#else
    __asm__ volatile("" : "+x"(sum));
#endif
    return sum - (real)(1.5L * WHOLE);
}

static real computed(real x)
{
    return (x * (real)(WHOLE / 16) + opaque(WHOLE / 4) * 4) / (real)WHOLE;
}

/* Another block computes the term. */
static __attribute__((noinline)) real power(int k)
{
    real y = 1;
    while (k-- > 0)
        y *= 2;
    return y;
}

static __attribute__((noinline)) real scaled(real x, real term)
{
    return (x * (real)(WHOLE / 16) + term) * (real)(1 / WHOLE);
}

/* Doubles a number until it is as large. */
static real reached(real x)
{
    volatile real nothing = 0;
    real term = opaque(WHOLE / 8), sum = 0;
    for (int i = 0; i < 5; i++) {
        sum = x * (real)(WHOLE / 16) + term;
        term = term * 2 + nothing;
        if (term > (real)(1.2L * WHOLE))
            break;
    }
    return sum / (real)WHOLE;
}

static void checks(void)
{
    const int digits = KIND == 4 ? 23 : KIND == 8 ? 52 : 63;
    for (int i = 0; i < 3; i++) {
#ifndef __FAST_MATH__ // which may take the number off before it is added
        AT("rounded^", rounded(x), 0, 0.75, -2.5);
#endif
        AT("computed~16^", computed(x), 1.0L / 16, 0.75, 2.5);
        AT("elsewhere~16^", scaled(x, power(digits)), 1.0L / 16, 0.75, 2.5);
        AT("reached~16^", reached(x), 1.0L / 16, 0.75, 2.5);
    }
}
