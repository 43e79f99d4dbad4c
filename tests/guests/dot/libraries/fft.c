// The power spectrum of the numbers read, by a recursive transform of radix two.
#include "read.h"
#include <complex.h>
#include <math.h>
#define N 16

static void transform(double complex *x, int n)
{
    if (n == 1) return;
    double complex even[N / 2], odd[N / 2];
    for (int k = 0; k < n / 2; k++) {
        even[k] = x[2 * k];
        odd[k] = x[2 * k + 1];
    }
    transform(even, n / 2);
    transform(odd, n / 2);
    for (int k = 0; k < n / 2; k++) {
        double complex turned = odd[k] * cexp(-2 * M_PI * I * k / n);
        x[k] = even[k] + turned;
        x[k + n / 2] = even[k] - turned;
    }
}

int main(void)
{
    double given[N];
    double complex x[N] = {0};
    int count = read_all(given, N);
    for (int i = 0; i < count; i++) x[i] = given[i];
    transform(x, N);
    for (int k = 0; k < N / 2; k++) printf("%.17g\n", creal(x[k]) * creal(x[k]) + cimag(x[k]) * cimag(x[k]));
    return 0;
}
