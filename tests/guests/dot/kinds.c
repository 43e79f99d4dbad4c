// Floats chosen by size and by kind, significands, what rounding leaves, and permutations into the vector of their indices, all of which
// AVX-512 alone has: under masks, from memory, and with one number for all lanes.
//@ float and double: sixteen and eight lanes
#include "masked.h"

#if KIND == 4
#define TABLE(answers) _mm512_set1_epi32(answers)
#define ONE(name) _mm_##name##_ss
typedef __m128 low;
typedef uint32_t word;
#else
#define TABLE(answers) _mm512_set1_epi64(answers)
#define ONE(name) _mm_##name##_sd
typedef __m128d low;
typedef uint64_t word;
#endif
typedef union {
    low vector;
    real lanes[16 / sizeof(real)];
} pair;

enum { LEAST, GREATEST, NEAREST, FARTHEST, OF_FIRST = 0, AS_CHOSEN = 4, POSITIVE = 8, NEGATIVE = 12 };

/* The derivative of what `control` chooses. */
static wide selected(int control, real a, real b, wide da, wide db)
{
    int by_size = control & 2, is_larger = control & 1;
    real x = by_size ? M(fabs)(a) : a, y = by_size ? M(fabs)(b) : b;
    int first = is_larger ? x > y : x < y;
    real value = first ? a : b;
    wide slope = first ? da : db;
    int sign = control & 12;
    int negative = sign == OF_FIRST ? a < 0 : sign == AS_CHOSEN ? value < 0 : sign == NEGATIVE;
    return negative == (value < 0) ? slope : -slope;
}

/* The derivative of x's significand in [low, 2 low), of that size. */
static wide scaled(real x, real low, wide dx)
{
    int power = 0;
    while (ldexpl(fabsl(x), power) >= 2 * low)
        power--;
    while (ldexpl(fabsl(x), power) < low)
        power++;
    return ldexpl(dx, power);
}

static void checks(void)
{
    volatile mask chosen_mask = (mask)0xa35a;
    for (int round = 0; round < 3; round++) {
        mask m = chosen_mask;
        lanes a, b, made;
        wide da[COUNT], db[COUNT], expected[COUNT];
        for (int i = 0; i < COUNT; i++) {
            int sign = i & 1 ? -1 : 1, other = i & 2 ? -1 : 1;
            a.lanes[i] = sign * ((real)0.7129 + (real)(i + 1) * at(0.5531));
            b.lanes[i] = other * ((real)5.317 - (real)(i + 2) * at(0.2973));
            da[i] = sign * (i + 1), db[i] = -other * (i + 2);
        }
#define RANGE(name, control)                                                                           \
        EACH("merged-" name, PS(mask_range)(a.vector, m, a.vector, b.vector, control),                 \
             selected(control, a.lanes[i], b.lanes[i], da[i], db[i]), da[i]);                            \
        EACH("zeroed-" name, PS(maskz_range)(m, b.vector, PS(set1)(b.lanes[1]), control),              \
             selected(control, b.lanes[i], b.lanes[1], db[i], db[1]), 0);                                \
        EACH(name, PS(range)(a.vector, b.vector, control),                                             \
             selected(control, a.lanes[i], b.lanes[i], da[i], db[i]),                                    \
             selected(control, a.lanes[i], b.lanes[i], da[i], db[i]))
        RANGE("least", LEAST | AS_CHOSEN);
        RANGE("greatest", GREATEST | AS_CHOSEN);
        RANGE("greatest-negative", GREATEST | NEGATIVE);
        RANGE("least-signed", LEAST | OF_FIRST);
        RANGE("nearest", NEAREST | AS_CHOSEN);
        RANGE("nearest-positive", NEAREST | POSITIVE);
        RANGE("farthest-negative", FARTHEST | NEGATIVE);
        RANGE("farthest-signed", FARTHEST | OF_FIRST);

        EACH("merged-rest", PS(mask_reduce)(a.vector, m, b.vector, 0x00), db[i], da[i]);
        EACH("zeroed-rest-of-halves", PS(maskz_reduce)(m, b.vector, 0x13), db[i], 0);
        EACH("rest-of-eighths", PS(reduce)(a.vector, 0x31), da[i], da[i]);
        EACH("rounded-to-halves^", PS(mask_roundscale)(a.vector, m, b.vector, 0x10), 0, da[i]);
        EACH("rounded-to-eighths^", PS(roundscale)(a.vector, 0x34), 0, 0);
        EACH("exponent^", PS(mask_getexp)(a.vector, m, b.vector), 0, da[i]);

        EACH("significand", PS(getmant)(a.vector, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src),
             scaled(a.lanes[i], 1, da[i]), scaled(a.lanes[i], 1, da[i]));
        EACH("merged-significand", PS(mask_getmant)(a.vector, m, b.vector, _MM_MANT_NORM_p5_1, _MM_MANT_SIGN_zero),
             scaled(b.lanes[i], (real)0.5, b.lanes[i] < 0 ? -db[i] : db[i]), da[i]);
        EACH("zeroed-significand",
             PS(maskz_getmant)(m, PS(set1)(b.lanes[1]), _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_src),
             scaled(b.lanes[1], (real)0.75, db[1]), 0);

        /* Kinds: NaN, zero, one, infinities, negative, positive. Answers: 1 the number, 0 what was there, 9 the constant -1. */
        EACH("positive-or-constant", PS(fixupimm)(b.vector, a.vector, TABLE(0x19541822), 0),
             a.lanes[i] > 0 ? da[i] : 0, a.lanes[i] > 0 ? da[i] : 0);
        EACH("positive-or-kept", PS(mask_fixupimm)(b.vector, m, a.vector, TABLE(0x10541822), 0),
             a.lanes[i] > 0 ? da[i] : db[i], db[i]);
        EACH("zeroed-negative", PS(maskz_fixupimm)(m, b.vector, a.vector, TABLE(0x81541822), 0),
             a.lanes[i] < 0 ? da[i] : 0, 0);

        /* What is left of the indices are floats, and have derivatives. */
        lanes index;
        word picks[COUNT];
        for (int i = 0; i < COUNT; i++)
            picks[i] = (5 * i + 3) % (2 * COUNT);
        memcpy(&index, picks, sizeof index);
        index.vector = PS(mask_mov)(b.vector, m, index.vector);
        made.vector = PS(mask2_permutex2var)(a.vector, index.bits, m, b.vector);
        for (int i = 0; i < COUNT; i++)
            expected[i] = !BIT(i) ? db[i] : picks[i] < COUNT ? da[picks[i]] : db[picks[i] - COUNT];
        sum("permuted-or-index", made, expected);
        made.vector = PS(mask_permutex2var)(a.vector, m, index.bits, b.vector);
        for (int i = 0; i < COUNT; i++)
            expected[i] = !BIT(i) ? da[i] : picks[i] < COUNT ? da[picks[i]] : db[picks[i] - COUNT];
        sum("permuted-of-two", made, expected);

        pair x, y, one;
        for (unsigned i = 0; i < sizeof x.lanes / sizeof *x.lanes; i++)
            x.lanes[i] = a.lanes[i + 1], y.lanes[i] = b.lanes[i + 1];
#define LOWEST(name, value, slope)                     \
        one.vector = (value);                          \
        check(name, one.lanes[0] + 8 * one.lanes[1], (slope) + 8 * da[2])
        LOWEST("lowest-range", ONE(range)(x.vector, y.vector, NEAREST | POSITIVE),
               selected(NEAREST | POSITIVE, a.lanes[1], b.lanes[1], da[1], db[1]));
        LOWEST("lowest-rest", ONE(reduce)(x.vector, y.vector, 0x20), db[1]);
        LOWEST("lowest-rounded^", ONE(roundscale)(x.vector, y.vector, 0x20), 0);
        LOWEST("lowest-significand", ONE(getmant)(x.vector, y.vector, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src),
               scaled(b.lanes[1], 1, db[1]));
        LOWEST("lowest-exponent^", ONE(getexp)(x.vector, y.vector), 0);
        LOWEST("lowest-merged", ONE(mask_reduce)(y.vector, m & 1, x.vector, y.vector, 0x20), db[1]);
        LOWEST("lowest-fixed", ONE(fixupimm)(y.vector, x.vector, _mm_set1_epi32(0x11541822), 0), da[1]);
    }
}
