// The later AVX-512 groups: VBMI, VBMI2, VNNI, IFMA, BITALG, VPOPCNTDQ, and VAES, GFNI, VPCLMULQDQ.
//@ flags: -mavx512vbmi -mavx512vbmi2 -mavx512vnni -mavx512ifma -mavx512bitalg -mavx512vpopcntdq -mvaes -mgfni -mvpclmulqdq -mavx512bw
//@ needs: avx512vbmi avx512_vbmi2 avx512_vnni avx512ifma avx512_bitalg avx512_vpopcntdq vaes gfni vpclmulqdq
#include "vectors.h"

int main(void)
{
    make_samples();
    EACH(BINARY, __m512i, _mm512_permutexvar_epi8, _mm512_multishift_epi64_epi8, _mm512_aesenc_epi128, _mm512_aesdeclast_epi128,
         _mm512_gf2p8mul_epi8)
    EACH(TERNARY, __m512i, _mm512_dpbusd_epi32, _mm512_dpwssds_epi32, _mm512_madd52lo_epu64, _mm512_madd52hi_epu64,
         _mm512_shldv_epi32, _mm512_shrdv_epi64, _mm512_permutex2var_epi8)
    EACH(UNARY, __m512i, _mm512_popcnt_epi8, _mm512_popcnt_epi16, _mm512_popcnt_epi32, _mm512_popcnt_epi64)
    BINARY_IMM(__m512i, _mm512_clmulepi64_epi128, 0x10)
    BINARY_IMM(__m512i, _mm512_shldi_epi16, 5)
    BINARY_IMM(__m512i, _mm512_gf2p8affineinv_epi64_epi8, 0x63)
    REPORT("compress bytes", _mm512_maskz_compress_epi8((__mmask64)0x123456789abcdef0, OPERAND(__m512i, 0)));
    REPORT("bit shuffle", _mm512_bitshuffle_epi64_mask(OPERAND(__m512i, 0), OPERAND(__m512i, 1)));
    return 0;
}
