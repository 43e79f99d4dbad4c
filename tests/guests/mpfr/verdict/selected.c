// Lanes that are compared at once, and selected by the masks that come of it: each lane decides, and what was selected keeps its real.
// FAILS decision
#include <emmintrin.h>
#include <stdio.h>
volatile double part = 0.1, whole = 1, small = 1e-17;
__attribute__((noinline)) static __m128d larger(__m128d a, __m128d b)
{
    __m128d mask = _mm_cmplt_pd(a, b); // DECIDES 100 of 200
    __asm__("" : "+x"(mask));
    return _mm_or_pd(_mm_and_pd(mask, b), _mm_andnot_pd(mask, a));
}
int main(void)
{
    double total = 0;
    for (int i = 0; i < 100; i++) {
        double sum = 0;
        for (int k = 0; k < 10; k++)
            sum += part;
        // Ten tenths are larger than 1 in the reals of these doubles, and less in doubles; the other lane is decided alike.
        __m128d m = larger(_mm_setr_pd(sum, part), _mm_setr_pd(whole + small, small));
        total += _mm_cvtsd_f64(_mm_unpackhi_pd(m, m)) + _mm_cvtsd_f64(m);
    }
    printf("%.15g\n", total);
}
