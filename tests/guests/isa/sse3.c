// SSE3 and SSSE3: horizontal arithmetic, duplicates, byte shuffles, fisttp.
//@ flags: -mssse3
//@ needs: ssse3
#include "vectors.h"

static long truncate_x87(double x)
{
    long result;
    __asm__("fldl %1\n fisttpll %0" : "=m"(result) : "m"(x) : "st");
    return result;
}

int main(void)
{
    make_samples();
    EACH(BINARY, __m128, _mm_addsub_ps, _mm_hadd_ps, _mm_hsub_ps)
    EACH(BINARY, __m128d, _mm_addsub_pd, _mm_hadd_pd, _mm_hsub_pd)
    EACH(UNARY, __m128, _mm_movehdup_ps, _mm_moveldup_ps)
    EACH(UNARY, __m128d, _mm_movedup_pd)
    EACH(UNARY, __m128i, _mm_abs_epi8, _mm_abs_epi16, _mm_abs_epi32)
    EACH(BINARY, __m128i, _mm_hadd_epi16, _mm_hadd_epi32, _mm_hadds_epi16, _mm_hsub_epi16, _mm_hsub_epi32, _mm_hsubs_epi16,
         _mm_maddubs_epi16, _mm_mulhrs_epi16, _mm_shuffle_epi8, _mm_sign_epi8, _mm_sign_epi16, _mm_sign_epi32)
    BINARY_IMM(__m128i, _mm_alignr_epi8, 5)
    BINARY_IMM(__m128i, _mm_alignr_epi8, 20)
    REPORT("_mm_lddqu_si128", _mm_lddqu_si128((const __m128i *)(samples[0][i_ % 60] + 7)));
    printf("%ld %ld %ld\n", truncate_x87(2.9), truncate_x87(-2.9), truncate_x87(1e18));
    return 0;
}
