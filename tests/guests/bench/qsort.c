// Sorts doubles that depend on an input, by qsort and a comparison function.
#include <stdio.h>
#include <stdlib.h>

#define N 1000
double shift = 0;
static double a[N];

static int compare(const void *p, const void *q)
{
    double x = *(const double *)p, y = *(const double *)q;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    double total = 0;
    unsigned state = 1;
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < N; i++) state = state * 1664525 + 1013904223, a[i] = (double)state / 4294967296.0 + shift;
        qsort(a, N, sizeof *a, compare);
        total += a[N / 3];
    }
    printf("%.17g\n", total);
    return 0;
}
