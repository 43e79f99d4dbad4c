// An instruction that a shadow does not understand meets a shadowed value, three times at one place: a float becomes half
// as wide, for reals; or does so under a mask.
#include <immintrin.h>
#include <stdio.h>

double x = 3;

int main(void)
{
    volatile unsigned short halves[8];
    float f = (float)(x / 7);
    for (int i = 0; i < 3; i++) {
        /* Not known to the compiler: it must be done three times. */
        __asm__ volatile("" : "+x"(f));
#ifdef MASKED
        __m128i narrow = _mm_maskz_cvtps_ph(7, _mm_set1_ps(f), 0);
#else
        __m128i narrow = _mm_cvtps_ph(_mm_set1_ps(f), 0);
#endif
        halves[i] = (unsigned short)_mm_extract_epi16(narrow, 0);
        f = f * 2;
    }
    printf("%d %g\n", halves[2], x * x);
    return 0;
}
