// A linear system by elimination with pivots, as a function of matrix and right-hand side.
#define N 5
double x[N * N + N] = {
    2.1, -1.3, 0.4, 0.7, 1.1, 0.3, 3.2, -0.8, 1.9, -2.2, -1.7, 0.6, 4.1,
    0.2, 0.9, 1.4, -2.5, 0.8, 2.7, -0.6, 0.5, 1.2, -1.1, 0.4, 3.3, 1.0, -2.0, 0.5, 3.0, -1.5,
};
#include "moved.h"
#include <math.h>

static void compute(void)
{
    double *b = x + N * N;
    for (int k = 0; k < N; k++) {
        int pivot = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(x[i * N + k]) > fabs(x[pivot * N + k])) pivot = i;
        for (int j = 0; j < N; j++) {
            double swapped = x[k * N + j];
            x[k * N + j] = x[pivot * N + j];
            x[pivot * N + j] = swapped;
        }
        double swapped = b[k];
        b[k] = b[pivot];
        b[pivot] = swapped;
        for (int i = k + 1; i < N; i++) {
            double factor = x[i * N + k] / x[k * N + k];
            for (int j = k; j < N; j++) x[i * N + j] -= factor * x[k * N + j];
            b[i] -= factor * b[k];
        }
    }
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++) b[i] -= x[i * N + j] * b[j];
        b[i] /= x[i * N + i];
    }
    for (int i = 0; i < N; i++) printf("%.17g\n", b[i]);
}
