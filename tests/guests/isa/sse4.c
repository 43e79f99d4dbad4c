// SSE4.1 and SSE4.2: blends, dot products, rounding, string comparison, CRC, popcnt.
//@ flags: -msse4.2 -mpopcnt
//@ needs: sse4_2 popcnt
#include "vectors.h"

static void strings(void)
{
    BINARY_IMM(__m128i, _mm_cmpistri, 0x0c)
    BINARY_IMM(__m128i, _mm_cmpistri, 0x44)
    BINARY_IMM(__m128i, _mm_cmpistrm, 0x40)
    BINARY_IMM(__m128i, _mm_cmpistrz, 0x18)
    REPORT("_mm_cmpestri", _mm_cmpestri(OPERAND(__m128i, 0), i_ % 17, OPERAND(__m128i, 1), 16, 0x08));
    REPORT("_mm_cmpestrm", _mm_cmpestrm(OPERAND(__m128i, 0), 5, OPERAND(__m128i, 1), i_ % 19, 0x44));
    uint64_t crc = 0xffffffff;
    for (int i = 0; i < SAMPLES; i++) {
        crc = _mm_crc32_u64(crc, ((uint64_t *)samples[0][i])[0]);
        crc = _mm_crc32_u8((uint32_t)crc, samples[1][i][0]);
        crc = _mm_crc32_u16((uint32_t)crc, ((uint16_t *)samples[2][i])[1]);
    }
    printf("%016lx %ld\n", crc, (long)_mm_popcnt_u64(crc));
}

int main(void)
{
    make_samples();
    EACH(UNARY, __m128, _mm_ceil_ps, _mm_floor_ps)
    EACH(BINARY, __m128d, _mm_ceil_sd, _mm_floor_sd)
    UNARY_IMM(__m128d, _mm_round_pd, 3)
    UNARY_IMM(__m128, _mm_round_ps, 4)
    BINARY_IMM(__m128, _mm_dp_ps, 0x7f)
    BINARY_IMM(__m128d, _mm_dp_pd, 0x31)
    BINARY_IMM(__m128, _mm_blend_ps, 5)
    BINARY_IMM(__m128i, _mm_blend_epi16, 0x5a)
    BINARY_IMM(__m128, _mm_insert_ps, 0x9c)
    BINARY_IMM(__m128i, _mm_mpsadbw_epu8, 5)
    UNARY_IMM(__m128, _mm_extract_ps, 2)
    UNARY_IMM(__m128i, _mm_extract_epi8, 11)
    UNARY_IMM(__m128i, _mm_extract_epi64, 1)
    EACH(TERNARY, __m128i, _mm_blendv_epi8)
    EACH(TERNARY, __m128d, _mm_blendv_pd)
    EACH(BINARY, __m128i, _mm_cmpeq_epi64, _mm_cmpgt_epi64, _mm_max_epi8, _mm_max_epi32, _mm_max_epu16, _mm_min_epu32,
         _mm_mul_epi32, _mm_mullo_epi32, _mm_packus_epi32, _mm_testz_si128, _mm_testc_si128, _mm_testnzc_si128)
    EACH(UNARY, __m128i, _mm_cvtepi8_epi16, _mm_cvtepi8_epi64, _mm_cvtepi16_epi32, _mm_cvtepu8_epi32, _mm_cvtepu32_epi64,
         _mm_minpos_epu16)
    REPORT("_mm_stream_load_si128", _mm_stream_load_si128((__m128i *)samples[0][i_]));
    strings();
    return 0;
}
