// AES, SHA and carry-less multiplication.
//@ flags: -maes -mpclmul -msha -msse4.1
//@ needs: aes pclmulqdq sha_ni
#include "vectors.h"

int main(void)
{
    make_samples();
    EACH(BINARY, __m128i, _mm_aesenc_si128, _mm_aesenclast_si128, _mm_aesdec_si128, _mm_aesdeclast_si128, _mm_sha1msg1_epu32,
         _mm_sha1msg2_epu32, _mm_sha1nexte_epu32, _mm_sha256msg1_epu32, _mm_sha256msg2_epu32)
    UNARY(__m128i, _mm_aesimc_si128)
    UNARY_IMM(__m128i, _mm_aeskeygenassist_si128, 0x1b)
    BINARY_IMM(__m128i, _mm_clmulepi64_si128, 0x00)
    BINARY_IMM(__m128i, _mm_clmulepi64_si128, 0x11)
    BINARY_IMM(__m128i, _mm_sha1rnds4_epu32, 2)
    TERNARY(__m128i, _mm_sha256rnds2_epu32)
    return 0;
}
