// Horizontal forms on active floats, one kind per run: haddpd, dppd, dpps, addsubpd.
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double shift = 0;

static __attribute__((target("sse4.1"))) double hadd(long rounds, double x)
{
    __m128d a = _mm_set_pd(x, 2 * x), c = _mm_set1_pd(0.25);
    for (long i = 0; i < rounds; i++) a = _mm_mul_pd(_mm_hadd_pd(a, _mm_shuffle_pd(a, a, 1)), c), a = _mm_add_pd(a, _mm_set1_pd(x));
    return _mm_cvtsd_f64(a);
}

static __attribute__((target("sse4.1"))) double dppd(long rounds, double x)
{
    __m128d a = _mm_set_pd(x, 2 * x), c = _mm_set1_pd(0.25);
    for (long i = 0; i < rounds; i++) a = _mm_add_pd(_mm_dp_pd(a, c, 0x33), _mm_set1_pd(x));
    return _mm_cvtsd_f64(a);
}

static __attribute__((target("sse4.1"))) double dpps(long rounds, double x)
{
    __m128 a = _mm_set1_ps((float)x), c = _mm_set1_ps(0.125f);
    for (long i = 0; i < rounds; i++) a = _mm_add_ps(_mm_dp_ps(a, c, 0xff), _mm_set1_ps((float)x));
    return _mm_cvtss_f32(a);
}

static __attribute__((target("sse4.1"))) double addsub(long rounds, double x)
{
    __m128d a = _mm_set_pd(x, 2 * x), c = _mm_set1_pd(0.25);
    for (long i = 0; i < rounds; i++) a = _mm_mul_pd(_mm_addsub_pd(_mm_shuffle_pd(a, a, 1), _mm_set1_pd(x)), c);
    return _mm_cvtsd_f64(a);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "haddpd";
    long rounds = argc > 2 ? atol(argv[2]) : 1000;
    double x = 0.75 + shift;
    double y = !strcmp(kind, "haddpd") ? hadd(rounds, x)
        : !strcmp(kind, "dppd")        ? dppd(rounds, x)
        : !strcmp(kind, "dpps")        ? dpps(rounds, x)
                                       : addsub(rounds, x);
    printf("%.9g\n", y);
    return 0;
}
