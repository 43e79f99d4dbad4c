// SSE: packed and scalar single precision.
#include "vectors.h"

int main(void)
{
    make_samples();
    EACH(BINARY, __m128, _mm_add_ps, _mm_sub_ps, _mm_mul_ps, _mm_div_ps, _mm_min_ps, _mm_max_ps, _mm_and_ps, _mm_andnot_ps,
         _mm_or_ps, _mm_xor_ps, _mm_unpackhi_ps, _mm_unpacklo_ps, _mm_movehl_ps, _mm_movelh_ps, _mm_move_ss, _mm_add_ss)
    EACH(BINARY, __m128, _mm_sub_ss, _mm_mul_ss, _mm_div_ss, _mm_min_ss, _mm_max_ss, _mm_cmpeq_ps, _mm_cmplt_ps, _mm_cmple_ps,
         _mm_cmpneq_ps, _mm_cmpunord_ps, _mm_cmpnlt_ps, _mm_cmpord_ss, _mm_cmpgt_ss, _mm_comieq_ss, _mm_comilt_ss, _mm_ucomigt_ss)
    EACH(UNARY, __m128, _mm_sqrt_ps, _mm_sqrt_ss, _mm_rcp_ps, _mm_rcp_ss, _mm_rsqrt_ps, _mm_rsqrt_ss, _mm_movemask_ps,
         _mm_cvtss_si32, _mm_cvttss_si32, _mm_cvtss_si64, _mm_cvttss_si64, _mm_cvtss_f32)
    BINARY_IMM(__m128, _mm_shuffle_ps, 0x1b)
    BINARY_IMM(__m128, _mm_shuffle_ps, 0x72)
    float stored[4];
    _mm_storeu_ps(stored, _mm_loadu_ps((const float *)(samples[0][0] + 1)));
    _mm_storeh_pi((__m64 *)stored, _mm_loadl_pi(_mm_setzero_ps(), (const __m64 *)samples[1][1]));
    printf("%016lx\n", hash_bytes(HASH_START, stored, sizeof stored));
    return 0;
}
