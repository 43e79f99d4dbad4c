// SSE2: double precision, integers of every width, conversions, shuffles.
#include "vectors.h"

int main(void)
{
    make_samples();
    EACH(BINARY, __m128d, _mm_add_pd, _mm_sub_pd, _mm_mul_pd, _mm_div_pd, _mm_min_pd, _mm_max_pd, _mm_and_pd, _mm_andnot_pd,
         _mm_unpackhi_pd, _mm_unpacklo_pd, _mm_add_sd, _mm_div_sd, _mm_cmplt_pd, _mm_cmpneq_sd, _mm_comile_sd, _mm_ucomineq_sd)
    EACH(UNARY, __m128d, _mm_sqrt_pd, _mm_cvtpd_ps, _mm_cvtpd_epi32, _mm_cvttpd_epi32, _mm_cvtsd_si64, _mm_cvttsd_si32,
         _mm_movemask_pd)
    EACH(UNARY, __m128, _mm_cvtps_pd, _mm_cvtps_epi32, _mm_cvttps_epi32)
    EACH(UNARY, __m128i, _mm_cvtepi32_pd, _mm_cvtepi32_ps, _mm_movemask_epi8, _mm_cvtsi128_si64, _mm_move_epi64)
    BINARY_IMM(__m128d, _mm_shuffle_pd, 1)
    EACH(BINARY, __m128i, _mm_add_epi8, _mm_add_epi16, _mm_add_epi32, _mm_add_epi64, _mm_adds_epi8, _mm_adds_epu16,
         _mm_sub_epi8, _mm_sub_epi64, _mm_subs_epi16, _mm_subs_epu8, _mm_avg_epu8, _mm_avg_epu16, _mm_madd_epi16, _mm_max_epi16,
         _mm_max_epu8, _mm_min_epi16)
    EACH(BINARY, __m128i, _mm_mulhi_epi16, _mm_mulhi_epu16, _mm_mullo_epi16, _mm_mul_epu32, _mm_sad_epu8, _mm_cmpeq_epi8,
         _mm_cmpgt_epi16, _mm_cmplt_epi32, _mm_packs_epi16, _mm_packs_epi32, _mm_packus_epi16, _mm_unpackhi_epi8,
         _mm_unpacklo_epi16, _mm_unpackhi_epi32, _mm_unpacklo_epi64, _mm_andnot_si128)
    UNARY_IMM(__m128i, _mm_slli_si128, 5)
    UNARY_IMM(__m128i, _mm_srli_si128, 3)
    UNARY_IMM(__m128i, _mm_slli_epi16, 7)
    UNARY_IMM(__m128i, _mm_srai_epi32, 9)
    UNARY_IMM(__m128i, _mm_srli_epi64, 33)
    UNARY_IMM(__m128i, _mm_shuffle_epi32, 0x4e)
    UNARY_IMM(__m128i, _mm_shufflehi_epi16, 0x1b)
    UNARY_IMM(__m128i, _mm_shufflelo_epi16, 0xb1)
    UNARY_IMM(__m128i, _mm_extract_epi16, 5)
    REPORT("_mm_insert_epi16", _mm_insert_epi16(OPERAND(__m128i, 0), 77, 3));
    REPORT("_mm_sll_epi32", _mm_sll_epi32(OPERAND(__m128i, 0), _mm_cvtsi32_si128(samples[1][i_][0] % 40)));
    REPORT("_mm_sra_epi16", _mm_sra_epi16(OPERAND(__m128i, 0), _mm_cvtsi32_si128(samples[1][i_][0] % 20)));
    REPORT("_mm_cvtsi64_sd", _mm_cvtsi64_sd(OPERAND(__m128d, 0), (long)samples[1][i_][0] << 50));
    unsigned char masked[16] = {0};
    _mm_maskmoveu_si128(_mm_loadu_si128((__m128i *)samples[0][0]), _mm_loadu_si128((__m128i *)samples[1][0]), (char *)masked);
    _mm_sfence();
    printf("%016lx\n", hash_bytes(HASH_START, masked, 16));
    return 0;
}
