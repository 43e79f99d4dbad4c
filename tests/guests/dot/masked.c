// Floats chosen, computed, moved, scattered and scaled under masks, and any function of three operands, as compilers use them where they
// may take AVX-512 for granted. With AVX-512 only.
//@ float and double: sixteen and eight lanes
#include "masked.h"

#if KIND == 4
#define INDICES _mm512_setr_epi32(3, 1, 15, 0, 2, 4, 6, 8, 10, 12, 14, 5, 7, 9, 11, 13)
#define SCATTER(to, m, from) _mm512_mask_i32scatter_ps(to, m, INDICES, from, 4)
#define GATHER(old, m, from) _mm512_mask_i32gather_ps(old, m, INDICES, from, 4)
static const int PLACES[] = {3, 1, 15, 0, 2, 4, 6, 8, 10, 12, 14, 5, 7, 9, 11, 13};
#define FRACTION EPI(set1)(0x807fffff)
#define TWO EPI(set1)(0x40000000)
#else
#define INDICES _mm512_setr_epi64(3, 1, 7, 0, 2, 4, 6, 5)
#define SCATTER(to, m, from) _mm512_mask_i64scatter_pd(to, m, INDICES, from, 8)
#define GATHER(old, m, from) _mm512_mask_i64gather_pd(old, m, INDICES, from, 8)
static const int PLACES[] = {3, 1, 7, 0, 2, 4, 6, 5};
#define FRACTION EPI(set1)(0x800fffffffffffff)
#define TWO EPI(set1)(0x4000000000000000)
#endif

static void checks(void)
{
    volatile mask chosen = (mask)0xa35a;
    for (int round = 0; round < 3; round++) {
        mask m = chosen;
        lanes a, b, made;
        wide da[COUNT], db[COUNT], expected[COUNT];
        for (int i = 0; i < COUNT; i++) {
            a.lanes[i] = (real)0.75 + (real)(i + 1) * at(0.5);
            b.lanes[i] = (real)1.25 + (real)(10 * (i + 1)) * at(0.125);
            da[i] = i + 1, db[i] = 10 * (i + 1);
        }
        EACH("merged-sum", PS(mask_add)(a.vector, m, a.vector, b.vector), da[i] + db[i], da[i]);
        EACH("zeroed-sum", PS(maskz_add)(m, a.vector, b.vector), da[i] + db[i], 0);
        EACH("merged-fma", PS(mask_fmadd)(a.vector, m, b.vector, a.vector),
             a.lanes[i] * db[i] + b.lanes[i] * da[i] + da[i], da[i]);
        EACH("merged-root", PS(mask_sqrt)(b.vector, m, a.vector), da[i] / (2 * sqrtl(a.lanes[i])), db[i]);
        EACH("blend", PS(mask_blend)(m, a.vector, b.vector), db[i], da[i]);
        EACH("merged-move", PS(mask_mov)(a.vector, m, b.vector), db[i], da[i]);
        EACH("zeroed-move", PS(maskz_mov)(m, b.vector), db[i], 0);
        EACH("scaled", PS(mask_scalef)(a.vector, m, b.vector, PS(set1)(3.5)), 8 * db[i], da[i]);
        EACH("magnitude", PS(mask_and)(a.vector, m, b.vector, PS(castsi512)(EPI(set1)(-1))), db[i], da[i]);

        made = a;
        PS(mask_storeu)(made.lanes, m, b.vector);
        EACH("merged-store", made.vector, db[i], da[i]);
        made = a;
        SCATTER(made.lanes, m, b.vector);
        for (int i = 0; i < COUNT; i++)
            expected[i] = da[i];
        for (int i = 0; i < COUNT; i++)
            if (BIT(i))
                expected[PLACES[i]] = db[i];
        sum("scattered", made, expected);
        made.vector = GATHER(a.vector, m, b.lanes);
        for (int i = 0; i < COUNT; i++)
            expected[i] = BIT(i) ? db[PLACES[i]] : da[i];
        sum("gathered", made, expected);
        made.vector = PS(maskz_compress)(m, b.vector);
        for (int i = 0, n = 0; i < COUNT; i++) {
            expected[i] = 0;
            if (BIT(i))
                expected[n++] = db[i];
        }
        sum("compressed", made, expected);

        /* A choice by bits, and a significand with another exponent, sign kept. */
        lanes selects = {.bits = EPI(maskz_set1)(m, -1)};
        made.bits = EPI(ternarylogic)(selects.bits, a.bits, b.bits, 0xca);
        EACH("chosen-by-bits", made.vector, da[i], db[i]);
        made.bits = EPI(ternarylogic)(TWO, a.bits, FRACTION, 0xf8);
        for (int i = 0; i < COUNT; i++)
            expected[i] = da[i] * ldexpl(2, -ilogbl(a.lanes[i]));
        sum("significand", made, expected);
        lanes one = {.vector = PS(setzero)()};
        one.lanes[0] = b.lanes[0] > a.lanes[0] ? b.lanes[0] : a.lanes[0];
        check("chosen", one.lanes[0] * 2, 2 * (b.lanes[0] > a.lanes[0] ? db[0] : da[0]));
    }
}
