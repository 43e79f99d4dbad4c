// A reduction, an atomic sum and a critical section of OpenMP over the numbers read.
#include "read.h"
#include <math.h>

int main(void)
{
    double x[12], norm = 0, sum = 0, product = 1;
    int n = read_all(x, 12);
#pragma omp parallel for num_threads(3) reduction(+ : norm)
    for (int i = 0; i < n; i++) norm += x[i] * x[i];
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < n; i++) {
        double term = exp(-x[i] * x[i] / norm);
#pragma omp atomic
        sum += term;
#pragma omp critical
        product = product * (1 + 0.1 * x[i]);
    }
    printf("%.13g %.13g\n", sum, product);
    return 0;
}
