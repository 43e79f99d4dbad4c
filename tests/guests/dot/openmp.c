// OpenMP: reductions, atomics, critical sections, private copies; multiples of 1/4, so that every order gives one sum.
//@ libs: -fopenmp
#include "check.h"

enum { N = 200 };

static real reduced(real x)
{
    real sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < N; i++) sum += x * (real)i;
    return sum;
}

static real reduced_maximum(real x)
{
    real most = -1000000;
#pragma omp parallel for reduction(max : most) num_threads(3)
    for (int i = 0; i < N; i++) most = x * (real)i > most ? x * (real)i : most;
    return most;
}

static real atomic(real x)
{
    real sum = 0;
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        sum += x * (real)i;
    }
    return sum;
}

static real critical(real x)
{
    real sum = 0;
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < N; i++) {
#pragma omp critical
        sum += x * (real)i;
    }
    return sum;
}

static real mapped(real x)
{
    real squares[N], sum = 0;
#pragma omp parallel for firstprivate(x) num_threads(3)
    for (int i = 0; i < N; i++) squares[i] = x * x * (real)i;
    for (int i = 0; i < N; i++) sum += squares[i];
    return sum;
}

static real vectorised(real x)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += x * (real)i;
    return sum;
}

static void checks(void)
{
    const wide ramp = N * (N - 1) / 2;
    AT("reduction", reduced(x), ramp, 0.75, -2.5);
    AT("maximum", reduced_maximum(x), w > 0 ? N - 1 : 0, 0.75, -2.5);
    AT("atomic", atomic(x), ramp, 0.75, -2.5);
    AT("critical", critical(x), ramp, 0.75, -2.5);
    AT("parallel-for", mapped(x), 2 * w * ramp, 0.75, -2.5);
    AT("simd", vectorised(x), ramp, 0.75, -2.5);
}
