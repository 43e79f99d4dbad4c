// Sums and dot products over arrays, which compilers vectorise where they may; float if so compiled.
#include <stdio.h>
#include <stdlib.h>

#ifndef REAL
#define REAL double
#endif
#define N 4096
REAL shift = 0;
static REAL a[N], b[N];

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    for (int i = 0; i < N; i++) a[i] = (REAL)(i % 97) / 97 + shift, b[i] = (REAL)1 / (i + 1);
    REAL total = 0;
    for (int r = 0; r < rounds; r++) {
        REAL sum = 0, dot = 0;
        for (int i = 0; i < N; i++) sum += a[i];
        for (int i = 0; i < N; i++) dot += a[i] * b[i];
        for (int i = 0; i < N; i++) b[i] = b[i] * (REAL)0.999 + a[i] * (REAL)1e-6;
        total += sum * (REAL)1e-6 + dot;
    }
    printf("%.9g\n", (double)total);
    return 0;
}
