// Threads of OpenMP that reduce, add atomically, and hand rows to each other, as a function of what they share.
#define N 24
double x[N] = {0.3, 1.2, -0.7, 0.5, 1.9, -1.1, 0.8, 0.2, 1.4, -0.4, 0.6, 0.9, 1.1, -0.2, 0.7, 1.6, -0.9, 0.1, 1.3, 0.4, -0.6, 1.7, 0.35, 0.85};
#include "moved.h"
#include <math.h>

static void compute(void)
{
    static double wave[2][N];
    double sum = 0, total = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < N; i++) {
        sum += x[i] * x[(i + 1) % N];
#pragma omp atomic
        total += sin(x[i]);
    }
#pragma omp parallel num_threads(3)
    for (int s = 0; s < 6; s++) {
        const double *from = s == 0 ? x : wave[(s + 1) % 2];
#pragma omp for
        for (int i = 0; i < N; i++) wave[s % 2][i] = from[i] + 0.1 * from[(i + N - 1) % N] * from[(i + 1) % N];
    }
    printf("%.12g %.12g %.17g %.17g\n", sum, total, wave[1][3], wave[1][N - 1]);
}
