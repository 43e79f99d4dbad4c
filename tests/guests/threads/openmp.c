// OpenMP: reductions, schedules, critical sections, atomics, sections and nested data.
//@ flags: -fopenmp
//@ libs: -lm
//@ env: OMP_NUM_THREADS=4
#include "guest.h"
#include <math.h>
#include <omp.h>

int main(void)
{
    static double a[10000];
    double sum = 0, atomic_sum = 0;
    long count = 0;
    int threads = 0;
#pragma omp parallel for schedule(dynamic, 64)
    for (int i = 0; i < 10000; i++) a[i] = sqrt(i);
#pragma omp parallel for reduction(+ : count) reduction(max : sum)
    for (int i = 0; i < 10000; i++) {
        count += i % 3;
        if (a[i] > sum) sum = a[i];
    }
#pragma omp parallel
    {
#pragma omp atomic
        atomic_sum += 0.5;
#pragma omp critical
        threads++;
#pragma omp barrier
#pragma omp single
        printf("%d threads\n", omp_get_num_threads());
    }
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 8; i++) {
#pragma omp ordered
        printf("%d ", i);
    }
    printf("\n%.17g %ld %g %d\n", sum, count, atomic_sum, threads);
    return 0;
}
