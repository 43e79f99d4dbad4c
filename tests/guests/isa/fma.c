// FMA3 in its four signs, packed and scalar, and the alternating forms; F16C conversions.
//@ flags: -mfma -mf16c
//@ needs: fma f16c
#include "vectors.h"

int main(void)
{
    make_samples();
    EACH(TERNARY, __m256d, _mm256_fmadd_pd, _mm256_fmsub_pd, _mm256_fnmadd_pd, _mm256_fnmsub_pd, _mm256_fmaddsub_pd, _mm256_fmsubadd_pd)
    EACH(TERNARY, __m256, _mm256_fmadd_ps, _mm256_fmsub_ps, _mm256_fnmadd_ps, _mm256_fnmsub_ps, _mm256_fmaddsub_ps, _mm256_fmsubadd_ps)
    EACH(TERNARY, __m128d, _mm_fmadd_sd, _mm_fmsub_sd, _mm_fnmadd_sd, _mm_fnmsub_sd, _mm_fmadd_pd)
    EACH(TERNARY, __m128, _mm_fmadd_ss, _mm_fmsub_ss, _mm_fnmadd_ss, _mm_fnmsub_ss, _mm_fnmadd_ps)
    UNARY(__m128i, _mm256_cvtph_ps)
    UNARY_IMM(__m256, _mm256_cvtps_ph, 0)
    UNARY_IMM(__m256, _mm256_cvtps_ph, 3)
    UNARY_IMM(__m128, _mm_cvtps_ph, 2)
    return 0;
}
