// Signs turned over and cut off, of wide and narrow floats, by instructions for either width.
#include <emmintrin.h>
#include <math.h>
#include <stdio.h>

#define N 16

static __m128d negated_as_narrow(__m128d x)
{
    return _mm_castps_pd(_mm_xor_ps(_mm_castpd_ps(x), _mm_castpd_ps(_mm_set1_pd(-0.0))));
}

static __m128d magnitude_as_narrow(__m128d x)
{
    return _mm_castps_pd(_mm_andnot_ps(_mm_castpd_ps(_mm_set1_pd(-0.0)), _mm_castpd_ps(x)));
}

int main(int argc, char **argv)
{
    double a[N], turned = 0, cut = 0, copied = 0;
    float b[N], narrow = 0;
    (void)argv;
    for (int i = 0; i < N; i++) {
        a[i] = (i % 3 - 1) / (i + 3.0 * argc);
        b[i] = (i % 5 - 2) / (i + 7.0f * argc);
    }
    for (int i = 1; i < N; i++) {
        turned -= -a[i] * a[i - 1];
        cut += fabs(a[i] - 0.1) / fabs(a[i - 1] + 0.7);
        copied += copysign(a[i] + 1, a[i - 1]);
        narrow += fabsf(b[i]) * -b[i - 1];
    }
    printf("%.17g %.17g %.17g %.9g\n", turned, cut, copied, narrow);
    __m128d sum = _mm_set1_pd(0.3 * argc), difference = sum;
    for (int i = 0; i + 1 < N; i += 2) {
        sum = _mm_add_pd(sum, magnitude_as_narrow(_mm_loadu_pd(a + i)));
        difference = _mm_mul_pd(negated_as_narrow(difference), magnitude_as_narrow(_mm_add_pd(sum, difference)));
    }
    double lanes[2];
    _mm_storeu_pd(lanes, difference);
    printf("%.17g %.17g %.17g\n", lanes[0], lanes[1], -lanes[0] - lanes[1]);
    // What is turned over twice, and an error that shows in the magnitude of a difference.
    double lost = -(1e8 * argc + a[5]) + 1e8;
    printf("%.17g %.17g\n", -(-lost), fabs(lost));
    return 0;
}
