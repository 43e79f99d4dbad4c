// Magnitudes of negative numbers, numbers chosen by what a comparison leaves, and integers made of numbers, in loops of several lengths:
// whichever operation is the last before the operations of the program are looked at, what it makes has its own real.
#include <emmintrin.h>
#include <math.h>
#include <stdio.h>

volatile double tenth = 0.1;

static __attribute__((noinline)) double magnitudes(const double *numbers, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += fabs(numbers[i] * tenth) * 0.5;
    return sum;
}

static __attribute__((noinline)) double chosen(const double *numbers, int count)
{
    const __m128d zero = _mm_setzero_pd();
    __m128d sum = zero;
    for (int i = 0; i < count; i++) {
        __m128d number = _mm_mul_sd(_mm_load_sd(numbers + i), _mm_set_sd(tenth)), mask = _mm_add_sd(number, number);
        mask = _mm_cmplt_sd(mask, zero);
        sum = _mm_add_sd(sum, _mm_or_pd(_mm_and_pd(mask, _mm_set_sd(0.25)), _mm_andnot_pd(mask, number)));
    }
    return _mm_cvtsd_f64(sum);
}

static __attribute__((noinline)) long whole(const double *numbers, int count)
{
    long sum = 0;
    for (int i = 0; i < count; i++) sum += (long)(numbers[i] * tenth * 1000 + 0.25);
    return sum;
}

int main(void)
{
    enum { COUNT = 97 };
    double numbers[COUNT];
    for (int i = 0; i < COUNT; i++) numbers[i] = (i % 3 ? -1 : 1) * (i + 0.5);
    double sum = 0, other = 0;
    long integers = 0;
    for (int n = 0; n < 400; n++) {
        const int count = COUNT - n % 7;
        sum += magnitudes(numbers, count);
        other += chosen(numbers, count);
        integers += whole(numbers, count);
    }
    printf("%.8g %.8g %ld\n", sum, other, integers);
    return 0;
}
