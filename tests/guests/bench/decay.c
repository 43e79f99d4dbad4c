// A recurrence whose errors live on, in the format compiled for; with an argument its terms die out to zero.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef REAL
#define REAL double
#endif
REAL shift = 0;

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    REAL factor = argc > 2 ? (REAL)0.1 : (REAL)0.9999, x[4] = {(REAL)0.1 + shift, (REAL)0.3, (REAL)0.7, (REAL)0.9}, sum = 0;
    for (long i = 0; i < rounds; i++) {
        for (int j = 0; j < 4; j++) x[j] = x[j] * factor + x[(j + 1) & 3] * (REAL)1e-4, sum += x[j] * x[j];
        if (i % 1000 == 999) sum *= (REAL)0.5;
    }
    printf("%.9g\n", (double)sum);
    return 0;
}
