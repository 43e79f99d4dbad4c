// A program that was compiled for AVX-512 in part uses the registers that shadows are kept in elsewhere. Prints a value
// computed before, one computed there, and one computed afterwards, in two threads.
#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>

double x = 3;

__attribute__((noinline)) static double narrow(double a) { return a * a * 2; }

__attribute__((noinline, target("avx512f,avx512dq"))) static double wide(double a, const double *p)
{
    __m512d v = _mm512_set1_pd(a), w = _mm512_loadu_pd(p);
    for (int i = 0; i < 3; i++) {
        w = _mm512_fmadd_pd(v, w, v);
        __mmask8 above = _mm512_cmp_pd_mask(w, v, _CMP_GT_OQ);
        w = _mm512_mask_sub_pd(w, above, w, v);
    }
    return _mm512_reduce_add_pd(w);
}

static void *work(void *unused)
{
    (void)unused;
    double p[8];
    for (int i = 0; i < 8; i++) p[i] = x * i;
    double before = narrow(x), there = wide(1, p), after = narrow(x + before);
    printf("%.17g %.17g %.17g\n", before, there, after);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    work(NULL);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
