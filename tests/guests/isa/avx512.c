// AVX-512 F, BW, DQ, VL, CD: 512-bit vectors, masks, embedded rounding and broadcast, compressions, scatters.
//@ flags: -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd
//@ needs: avx512f avx512bw avx512dq avx512vl avx512cd
#include "vectors.h"

#define MASK(which) ((unsigned)samples[which][i_][0] | (unsigned)samples[which][i_][1] << 8)

static void masks(void)
{
    REPORT("masked add", _mm512_mask_add_pd(OPERAND(__m512d, 0), (__mmask8)MASK(1), OPERAND(__m512d, 1), OPERAND(__m512d, 2)));
    REPORT("zeroed mul", _mm512_maskz_mul_ps((__mmask16)MASK(2), OPERAND(__m512, 0), OPERAND(__m512, 1)));
    REPORT("compare", _mm512_cmp_pd_mask(OPERAND(__m512d, 0), OPERAND(__m512d, 1), _CMP_LE_OQ));
    REPORT("byte compare", _mm512_cmpgt_epu8_mask(OPERAND(__m512i, 0), OPERAND(__m512i, 1)));
    REPORT("compress", _mm512_maskz_compress_pd((__mmask8)MASK(0), OPERAND(__m512d, 1)));
    REPORT("expand", _mm512_mask_expand_ps(OPERAND(__m512, 0), (__mmask16)MASK(1), OPERAND(__m512, 2)));
    REPORT("blend", _mm512_mask_blend_epi16((__mmask32)MASK(0), OPERAND(__m512i, 1), OPERAND(__m512i, 2)));
    REPORT("k arithmetic", (unsigned)_kor_mask16(_kand_mask16((__mmask16)MASK(0), (__mmask16)MASK(1)), _knot_mask16((__mmask16)MASK(2))));
    REPORT("ymm masked", _mm256_mask_sqrt_pd(OPERAND(__m256d, 0), (__mmask8)MASK(1), OPERAND(__m256d, 2)));
    REPORT("mask to vector", _mm512_movm_epi8((__mmask64)MASK(0)));
}

static void rounding(void)
{
    REPORT("add down", _mm512_add_round_pd(OPERAND(__m512d, 0), OPERAND(__m512d, 1), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
    REPORT("sqrt up", _mm512_sqrt_round_ps(OPERAND(__m512, 0), _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC));
    REPORT("fma to zero", _mm512_fmadd_round_pd(OPERAND(__m512d, 0), OPERAND(__m512d, 1), OPERAND(__m512d, 2), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
    REPORT("roundscale", _mm512_roundscale_pd(OPERAND(__m512d, 0), 0x21));
    REPORT("getexp", _mm512_getexp_pd(OPERAND(__m512d, 0)));
    REPORT("getmant", _mm512_getmant_ps(OPERAND(__m512, 0), _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src));
    REPORT("scalef", _mm512_scalef_pd(OPERAND(__m512d, 0), OPERAND(__m512d, 1)));
    REPORT("rcp14", _mm512_rcp14_pd(OPERAND(__m512d, 0)));
    REPORT("fixupimm", _mm512_fixupimm_pd(OPERAND(__m512d, 0), OPERAND(__m512d, 1), OPERAND(__m512i, 2), 0));
    REPORT("range", _mm512_range_pd(OPERAND(__m512d, 0), OPERAND(__m512d, 1), 5));
    REPORT("fpclass", _mm512_fpclass_pd_mask(OPERAND(__m512d, 0), 0x99));
}

static void memory(void)
{
    static double target[64];
    REPORT("gather", _mm512_i32gather_pd(_mm256_and_si256(OPERAND(__m256i, 0), _mm256_set1_epi32(63)), (const double *)samples, 8));
    for (int i_ = 0; i_ < SAMPLES; i_++)
        _mm512_i64scatter_pd(target, _mm512_and_si512(OPERAND(__m512i, 1), _mm512_set1_epi64(63)), OPERAND(__m512d, 0), 8);
    printf("%016lx\n", hash_bytes(HASH_START, target, sizeof target));
    REPORT("masked load", _mm512_maskz_loadu_epi8((__mmask64)MASK(2) << 20, samples[0][i_] + 3));
    REPORT("broadcast operand", _mm512_add_pd(OPERAND(__m512d, 0), _mm512_set1_pd(*(const double *)samples[1][i_])));
}

int main(void)
{
    make_samples();
    EACH(BINARY, __m512d, _mm512_add_pd, _mm512_sub_pd, _mm512_mul_pd, _mm512_div_pd, _mm512_max_pd, _mm512_unpackhi_pd, _mm512_xor_pd)
    EACH(BINARY, __m512i, _mm512_add_epi8, _mm512_mullo_epi64, _mm512_sllv_epi16, _mm512_rolv_epi32, _mm512_permutexvar_epi64,
         _mm512_shuffle_epi8, _mm512_packs_epi32, _mm512_madd_epi16, _mm512_andnot_si512)
    EACH(UNARY, __m512i, _mm512_conflict_epi32, _mm512_lzcnt_epi64, _mm512_cvtepi64_epi8, _mm512_cvtepi32_ps, _mm512_cvtepu64_pd,
         _mm512_abs_epi64)
    EACH(UNARY, __m512d, _mm512_cvtpd_epu64, _mm512_cvttpd_epi64, _mm512_cvtpd_ps, _mm512_reduce_add_pd)
    BINARY_IMM(__m512d, _mm512_shuffle_f64x2, 0x4e)
    BINARY_IMM(__m512i, _mm512_alignr_epi32, 3)
    REPORT("ternary logic", _mm512_ternarylogic_epi64(OPERAND(__m512i, 0), OPERAND(__m512i, 1), OPERAND(__m512i, 2), 0xca));
    REPORT("two-source permute", _mm512_permutex2var_pd(OPERAND(__m512d, 0), OPERAND(__m512i, 1), OPERAND(__m512d, 2)));
    masks();
    rounding();
    memory();
    return 0;
}
