/* Vectors of sixteen floats or eight doubles, and masks of them. */
#ifndef MASKED_H
#define MASKED_H

#include "check.h"
#include <immintrin.h>

enum { COUNT = 64 / sizeof(real) };
typedef union {
    real lanes[COUNT];
#if KIND == 4
    __m512 vector;
    __m512i bits;
#else
    __m512d vector;
    __m512i bits;
#endif
} lanes;

#if KIND == 4
typedef __mmask16 mask;
#define PS(name) _mm512_##name##_ps
#define EPI(name) _mm512_##name##_epi32
#else
typedef __mmask8 mask;
#define PS(name) _mm512_##name##_pd
#define EPI(name) _mm512_##name##_epi64
#endif

/* The derivative of lane i is i + 1 or 10 (i + 1), that of a result `expected`; each counts with another weight. */
static void sum(const char *name, lanes made, const wide *expected)
{
    real total = 0;
    wide derivative = 0;
    for (int i = 0; i < COUNT; i++) {
        total += (real)(i + 1) * made.lanes[i];
        derivative += (i + 1) * expected[i];
    }
    check(name, total, derivative);
}

/* Checks `value`, whose lanes have the derivative `chosen_` where the mask m is set, and `other` elsewhere. */
#define BIT(i) (m >> (i) & 1)
#define EACH(name, value, chosen_, other)          \
    made.vector = (value);                         \
    for (int i = 0; i < COUNT; i++)                \
        expected[i] = BIT(i) ? (chosen_) : (other); \
    sum(name, made, expected)

#endif
