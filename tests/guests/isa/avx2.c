// AVX2: 256-bit integers, gathers, variable shifts, cross-lane permutes.
//@ flags: -mavx2
//@ needs: avx2
#include "vectors.h"

static void gathers(void)
{
    REPORT("vgatherdpd", _mm256_i32gather_pd((const double *)samples, _mm_and_si128(OPERAND(__m128i, 0), _mm_set1_epi32(255)), 8));
    REPORT("vgatherqpd", _mm256_i64gather_pd((const double *)samples, _mm256_and_si256(OPERAND(__m256i, 1), _mm256_set1_epi64x(63)), 4));
    REPORT("vpgatherdd", _mm256_i32gather_epi32((const int *)samples, _mm256_and_si256(OPERAND(__m256i, 2), _mm256_set1_epi32(511)), 2));
    REPORT("masked vgatherdps",
           _mm256_mask_i32gather_ps(OPERAND(__m256, 0), (const float *)samples,
                                    _mm256_and_si256(OPERAND(__m256i, 1), _mm256_set1_epi32(511)), OPERAND(__m256, 2), 4));
}

int main(void)
{
    make_samples();
    EACH(BINARY, __m256i, _mm256_add_epi8, _mm256_add_epi64, _mm256_adds_epi16, _mm256_subs_epu8, _mm256_avg_epu8,
         _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_mulhrs_epi16, _mm256_mullo_epi32, _mm256_mul_epi32, _mm256_mul_epu32,
         _mm256_sad_epu8, _mm256_cmpeq_epi64, _mm256_cmpgt_epi8, _mm256_shuffle_epi8, _mm256_sign_epi16)
    EACH(BINARY, __m256i, _mm256_packs_epi32, _mm256_packus_epi16, _mm256_unpackhi_epi8, _mm256_unpacklo_epi64,
         _mm256_hadd_epi32, _mm256_hsubs_epi16, _mm256_max_epu32, _mm256_min_epi8, _mm256_sllv_epi32, _mm256_sllv_epi64,
         _mm256_srlv_epi64, _mm256_srav_epi32, _mm256_permutevar8x32_epi32, _mm256_andnot_si256, _mm256_testc_si256)
    EACH(UNARY, __m256i, _mm256_abs_epi8, _mm256_movemask_epi8)
    EACH(UNARY, __m128i, _mm256_cvtepi8_epi16, _mm256_cvtepu16_epi64, _mm256_cvtepi32_epi64, _mm256_broadcastb_epi8,
         _mm256_broadcastq_epi64)
    UNARY_IMM(__m256i, _mm256_permute4x64_epi64, 0x1b)
    UNARY_IMM(__m256d, _mm256_permute4x64_pd, 0x72)
    UNARY_IMM(__m256i, _mm256_slli_si256, 3)
    UNARY_IMM(__m256i, _mm256_srai_epi16, 4)
    UNARY_IMM(__m256i, _mm256_extracti128_si256, 1)
    BINARY_IMM(__m256i, _mm256_alignr_epi8, 9)
    BINARY_IMM(__m256i, _mm256_blend_epi32, 0x69)
    BINARY_IMM(__m256i, _mm256_permute2x128_si256, 0x31)
    BINARY_IMM(__m256i, _mm256_mpsadbw_epu8, 0x2a)
    TERNARY(__m256i, _mm256_blendv_epi8)
    REPORT("vpmaskmovd", _mm256_maskload_epi32((const int *)samples[0][i_], OPERAND(__m256i, 1)));
    REPORT("vpermps", _mm256_permutevar8x32_ps(OPERAND(__m256, 0), OPERAND(__m256i, 1)));
    gathers();
    return 0;
}
