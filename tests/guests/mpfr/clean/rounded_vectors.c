// Vectors rounded by 2^52, which is added and taken off as its negative, by the magnitude: exponentials are reduced so.
#include <emmintrin.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static __m128d nearest(__m128d x)
{
    const __m128d whole = _mm_set1_pd(4503599627370496.0), sign = _mm_set1_pd(-0.0);
    __m128d magnitude = _mm_andnot_pd(sign, x), sum = _mm_add_pd(magnitude, whole);
    __asm__("" : "+x"(sum));
    __m128d rounded = _mm_or_pd(_mm_sub_pd(sum, whole), _mm_and_pd(x, sign));
    __m128d is_small = _mm_cmplt_pd(magnitude, whole);
    return _mm_or_pd(_mm_and_pd(is_small, rounded), _mm_andnot_pd(is_small, x));
}

int main(void)
{
    double step = atof("0.1") * 3.1;
    for (int i = 1; i <= 20; i++) {
        __m128d x = _mm_mul_pd(_mm_set1_pd(step), _mm_set_pd(i, -1.7 * i));
        double rest[2];
        _mm_storeu_pd(rest, _mm_sub_pd(x, _mm_mul_pd(nearest(x), _mm_set1_pd(0.75))));
        printf("%.12g %.12g\n", rest[0], rest[1]);
    }
    return 0;
}
