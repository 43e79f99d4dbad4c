// AVX: 256-bit floating point, three operands, masks, broadcasts, permutes.
//@ flags: -mavx
//@ needs: avx
#include "vectors.h"

int main(void)
{
    make_samples();
    EACH(BINARY, __m256, _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps, _mm256_div_ps, _mm256_min_ps, _mm256_max_ps,
         _mm256_and_ps, _mm256_andnot_ps, _mm256_addsub_ps, _mm256_hadd_ps, _mm256_hsub_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps)
    EACH(BINARY, __m256d, _mm256_add_pd, _mm256_mul_pd, _mm256_div_pd, _mm256_max_pd, _mm256_hadd_pd, _mm256_addsub_pd,
         _mm256_unpackhi_pd, _mm256_testz_pd, _mm256_testnzc_pd)
    EACH(UNARY, __m256, _mm256_sqrt_ps, _mm256_rcp_ps, _mm256_rsqrt_ps, _mm256_cvtps_epi32, _mm256_cvttps_epi32,
         _mm256_movehdup_ps, _mm256_moveldup_ps, _mm256_movemask_ps)
    EACH(UNARY, __m256d, _mm256_sqrt_pd, _mm256_cvtpd_ps, _mm256_cvtpd_epi32, _mm256_movedup_pd, _mm256_movemask_pd)
    EACH(UNARY, __m128i, _mm256_cvtepi32_pd)
    EACH(UNARY, __m256i, _mm256_cvtepi32_ps)
    BINARY_IMM(__m256, _mm256_cmp_ps, _CMP_NGE_US)
    BINARY_IMM(__m256d, _mm256_cmp_pd, _CMP_LT_OQ)
    BINARY_IMM(__m128d, _mm_cmp_sd, _CMP_UNORD_S)
    BINARY_IMM(__m256, _mm256_dp_ps, 0xf1)
    BINARY_IMM(__m256, _mm256_blend_ps, 0xa5)
    BINARY_IMM(__m256d, _mm256_shuffle_pd, 6)
    BINARY_IMM(__m256, _mm256_shuffle_ps, 0x1b)
    BINARY_IMM(__m256d, _mm256_permute2f128_pd, 0x21)
    BINARY_IMM(__m256, _mm256_permute2f128_ps, 0x83)
    UNARY_IMM(__m256d, _mm256_permute_pd, 0xa)
    UNARY_IMM(__m256, _mm256_permute_ps, 0x4e)
    UNARY_IMM(__m256d, _mm256_round_pd, 1)
    UNARY_IMM(__m256d, _mm256_extractf128_pd, 1)
    TERNARY(__m256, _mm256_blendv_ps)
    REPORT("vpermilps", _mm256_permutevar_ps(OPERAND(__m256, 0), OPERAND(__m256i, 1)));
    REPORT("vpermilpd", _mm256_permutevar_pd(OPERAND(__m256d, 0), OPERAND(__m256i, 1)));
    REPORT("vinsertf128", _mm256_insertf128_pd(OPERAND(__m256d, 0), OPERAND(__m128d, 1), 1));
    REPORT("vbroadcastss", _mm256_broadcast_ss((const float *)samples[0][i_]));
    REPORT("vbroadcastf128", _mm256_broadcast_ps((const __m128 *)samples[0][i_]));
    REPORT("vmaskmovps", _mm256_maskload_ps((const float *)samples[0][i_], OPERAND(__m256i, 1)));
    double stored[4] = {1, 2, 3, 4};
    _mm256_maskstore_pd(stored, _mm256_set_epi64x(-1, 0, -1, 0), _mm256_set1_pd(9));
    printf("%g %g %g %g\n", stored[0], stored[1], stored[2], stored[3]);
    return 0;
}
