// MMX: its registers are the x87 stack's, and emms gives them back.
//@ flags: -mmmx
#include "vectors.h"

#define MMX(f) REPORT(#f, (uint64_t)_mm_cvtm64_si64(f((__m64)OPERAND(uint64_t, 0), (__m64)OPERAND(uint64_t, 1))));
#define EACH_MMX(t, f) MMX(f)

int main(void)
{
    make_samples();
    EACH(EACH_MMX, , _mm_add_pi8, _mm_add_pi16, _mm_adds_pi16, _mm_adds_pu8, _mm_sub_pi32, _mm_subs_pu16, _mm_madd_pi16,
         _mm_mulhi_pi16, _mm_mullo_pi16, _mm_packs_pi16, _mm_packs_pi32, _mm_unpackhi_pi8, _mm_unpacklo_pi16, _mm_cmpeq_pi8,
         _mm_cmpgt_pi16, _mm_andnot_si64)
    EACH(EACH_MMX, , _mm_avg_pu8, _mm_max_pi16, _mm_min_pu8, _mm_sad_pu8, _mm_mulhi_pu16)
    // After movq into mm0 the stack's top register holds the significand, with all exponent bits set.
    uint64_t image[16], value = 0x123456789abcdef0;
    __asm__ volatile("movq %1, %%mm0\n fnsave %0" : "=m"(image) : "m"(value) : "memory");
    uint64_t low;
    memcpy(&low, (char *)image + 28, 8);
    CHECK(low == value && !memcmp((char *)image + 36, "\xff\xff", 2));
    _mm_empty();
    volatile long double x = 1.5L;
    printf("%Lg\n", x * x + 1);
    return 0;
}
