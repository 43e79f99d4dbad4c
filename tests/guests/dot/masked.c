// Floats chosen, computed, moved, scattered and scaled under masks, and any function of three operands, as compilers use them where they
// may take AVX-512 for granted. With AVX-512 only.
//@ float and double: sixteen and eight lanes
#include "masked.h"
#include <sys/mman.h>

#if KIND == 4
#define INDICES _mm512_setr_epi32(3, 1, 15, 0, 2, 4, 6, 8, 10, 12, 14, 5, 7, 9, 11, 13)
#define SCATTER(to, m, from) _mm512_mask_i32scatter_ps(to, m, INDICES, from, 4)
#define GATHER(old, m, from) _mm512_mask_i32gather_ps(old, m, INDICES, from, 4)
static const int PLACES[] = {3, 1, 15, 0, 2, 4, 6, 8, 10, 12, 14, 5, 7, 9, 11, 13};
#define FRACTION EPI(set1)(0x807fffff)
#define MAGNITUDE 0x7fffffff
#define COMPARED _mm512_cmp_ps_mask
#define SOME_COMPARED _mm512_mask_cmp_ps_mask
#define SUFFIX "ps"
#define TO_ALL "%{1to16%}"
#define TWO EPI(set1)(0x40000000)
#else
#define INDICES _mm512_setr_epi64(3, 1, 7, 0, 2, 4, 6, 5)
#define SCATTER(to, m, from) _mm512_mask_i64scatter_pd(to, m, INDICES, from, 8)
#define GATHER(old, m, from) _mm512_mask_i64gather_pd(old, m, INDICES, from, 8)
static const int PLACES[] = {3, 1, 7, 0, 2, 4, 6, 5};
#define FRACTION EPI(set1)(0x800fffffffffffff)
#define MAGNITUDE 0x7fffffffffffffff
#define COMPARED _mm512_cmp_pd_mask
#define SOME_COMPARED _mm512_mask_cmp_pd_mask
#define SUFFIX "pd"
#define TO_ALL "%{1to8%}"
#define TWO EPI(set1)(0x4000000000000000)
#endif

/* What a mask does not let through may not be there: the second of two pages. */
static void at_the_edge(lanes a, const wide *da)
{
    enum { PAGE = 4096, THERE = 3 };
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    real *last = (real *)(pages + PAGE) - THERE;
    if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE))
        abort();
    for (int i = 0; i < THERE; i++)
        last[i] = a.lanes[i] * 2;
    lanes made, other;
    wide expected[COUNT];
    mask there = (1 << THERE) - 1, none = 0;
    __asm__ volatile("vmul" SUFFIX " %2, %1, %0 %{%3%}%{z%}\n\tvmovu" SUFFIX " %0, %2 %{%3%}"
                     : "=&v"(made.vector) : "v"(a.vector), "m"(*(lanes *)last), "Yk"(there) : "memory");
    for (int i = 0; i < COUNT; i++)
        expected[i] = i < THERE ? 4 * a.lanes[i] * da[i] : 0;
    sum("product-at-the-edge", made, expected);
    made.vector = PS(maskz_loadu)(there, last);
    sum("stored-at-the-edge", made, expected);
    other = a;
    __asm__ volatile("vadd" SUFFIX " %1" TO_ALL ", %0, %0 %{%2%}"
                     : "+v"(other.vector) : "m"(*(real *)(pages + PAGE)), "Yk"(none));
    sum("sum-with-nothing", other, da);
    munmap(pages, 2 * PAGE);
}

/* What is left of numbers when the nearest 16ths are taken off. A mask has the number that rounds in the sum's place, as vector libraries
   put it where the sum is next to it. */
static lanes rest_chosen(lanes x, mask m)
{
    const real magic = (real)(KIND == 4 ? 786432.0 : 422212465065984.0);
    lanes made, magics;
    for (int i = 0; i < COUNT; i++)
        magics.lanes[i] = magic;
    __asm__ volatile("vadd" SUFFIX " %2, %1, %0\n\tvblendm" SUFFIX " %2, %0, %0 %{%3%}\n\tvsub" SUFFIX " %2, %0, %0\n\t"
                     "vsub" SUFFIX " %0, %1, %0"
                     : "=&v"(made.vector) : "v"(x.vector), "v"(magics.vector), "Yk"(m));
    return made;
}

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
        at_the_edge(a, da);
        EACH("merged-sum", PS(mask_add)(a.vector, m, a.vector, b.vector), da[i] + db[i], da[i]);
        EACH("rest-chosen", rest_chosen(a, m).vector, da[i], da[i]);
        EACH("zeroed-sum", PS(maskz_add)(m, a.vector, b.vector), da[i] + db[i], 0);
        EACH("merged-fma", PS(mask_fmadd)(a.vector, m, b.vector, a.vector),
             a.lanes[i] * db[i] + b.lanes[i] * da[i] + da[i], da[i]);
        EACH("merged-root", PS(mask_sqrt)(b.vector, m, a.vector), da[i] / (2 * sqrtl(a.lanes[i])), db[i]);
        EACH("blend", PS(mask_blend)(m, a.vector, b.vector), db[i], da[i]);
        EACH("merged-move", PS(mask_mov)(a.vector, m, b.vector), db[i], da[i]);
        EACH("zeroed-move", PS(maskz_mov)(m, b.vector), db[i], 0);
        EACH("scaled", PS(mask_scalef)(a.vector, m, b.vector, PS(set1)(3.5)), 8 * db[i], da[i]);
        EACH("magnitude", PS(mask_and)(a.vector, m, b.vector, PS(castsi512)(EPI(set1)(-1))), db[i], da[i]);

        /* Signs turned over, cut off, set, and another number's. */
        lanes c, minus = {.vector = PS(set1)((real)-0.0)};
        wide dc[COUNT];
        for (int i = 0; i < COUNT; i++) {
            c.lanes[i] = i & 1 ? -a.lanes[i] : a.lanes[i];
            dc[i] = i & 1 ? -da[i] : da[i];
        }
#define ALL(name, value, slope) EACH(name, value, slope, slope)
        ALL("absolute", PS(abs)(c.vector), da[i]);
        ALL("absolute-by-complement", PS(andnot)(minus.vector, c.vector), da[i]);
        ALL("negated", PS(xor)(c.vector, minus.vector), -dc[i]);
        ALL("negative", PS(or)(minus.vector, c.vector), -da[i]);
        minus.vector = PS(mask_mov)(PS(set1)(1), m, PS(set1)(-1));
        made.bits = EPI(ternarylogic)(EPI(set1)(MAGNITUDE), c.bits, minus.bits, 0xca);
        ALL("signed-as-another", made.vector, BIT(i) ? -da[i] : da[i]);

        /* Chosen by comparisons, of all lanes or of some. */
        mask above = COMPARED(c.vector, PS(set1)(0), _CMP_GT_OS);
        ALL("positive-times", PS(mask_mul)(b.vector, above, c.vector, PS(set1)(3)), i & 1 ? db[i] : 3 * dc[i]);
        ALL("positive-or-zero", PS(maskz_mov)(above, c.vector), i & 1 ? 0 : dc[i]);
        above = SOME_COMPARED(m, c.vector, PS(set1)(0), _CMP_LT_OS);
        ALL("negative-of-some", PS(mask_sub)(b.vector, above, c.vector, b.vector),
            i & 1 && BIT(i) ? dc[i] - db[i] : db[i]);
        EACH("negated-or-other", PS(mask_xor)(b.vector, m, c.vector, PS(set1)((real)-0.0)), -dc[i], db[i]);

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
