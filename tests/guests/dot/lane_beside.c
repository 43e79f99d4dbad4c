// Signs of two doubles taken away in one register, of which one depends on x: the other is nobody's loss.
#include <emmintrin.h>
#include <stdio.h>

double x = 3;

int main(void)
{
    double both[2] = {-1 / x, 1.5}, sizes[2];
    __m128i magnitude = _mm_srli_epi64(_mm_set1_epi8(-1), 1);
    __asm__("" : "+x"(magnitude), "+m"(both));
    _mm_storeu_pd(sizes, _mm_and_pd(_mm_castsi128_pd(magnitude), _mm_loadu_pd(both)));
    printf("%.17g %.17g\n", sizes[0], sizes[1]);
    return 0;
}
