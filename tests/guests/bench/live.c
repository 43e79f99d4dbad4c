// An array of floats with errors, all of which live.
#include <stdio.h>
#include <stdlib.h>

double shift = 0;

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1000;
    double *x = malloc(count * sizeof *x), sum = 0;
    for (long i = 0; i < count; i++) x[i] = 0.1 + i * 1e-3 + shift;
    for (int k = 0; k < 3; k++)
        for (long i = 0; i < count; i++) x[i] = x[i] * 0.999 + 0.1;
    for (long i = 0; i < count; i++) sum += x[i];
    printf("%.17g\n", sum);
    free(x);
    return 0;
}
