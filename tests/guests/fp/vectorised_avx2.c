// The same loops compiled for AVX2 and FMA, with -ffast-math and calls of the vector math library.
//@ opt: -O3
//@ cc: gcc
//@ flags: -mavx2 -mfma -ffast-math
//@ needs: avx2 fma
//@ libs: -lm
#include "guest.h"
#include <math.h>

#define N 1003
static double a[N], b[N], c[N];
static float f[N], g[N];
static int n[N];

int main(void)
{
    for (int i = 0; i < N; i++) a[i] = i * 0.37 - 100, b[i] = 1.0 / (i + 1), f[i] = (float)(i % 17), n[i] = i * i;
    for (int step = 0; step < 20; step++) {
        for (int i = 1; i < N - 1; i++) c[i] = 0.25 * (a[i - 1] + 2 * a[i] + a[i + 1]) - b[i];
        for (int i = 0; i < N; i++) a[i] = c[i] > 0 ? exp(sin(c[i])) : -c[i];
        for (int i = 0; i < N; i++) f[i] = f[i] * 1.5f + g[i], g[i] = (float)n[i] / 7;
        for (int i = 0; i < N; i++) n[i] = (int)a[i] ^ n[N - 1 - i];
    }
    double sum = 0, product = 1;
    for (int i = 0; i < N; i++) sum += a[i] * b[i], product *= 1 + b[i] / 1000;
    printf("%.17g %.17g %016lx %016lx\n", sum, product, hash_bytes(HASH_START, f, sizeof f), hash_bytes(HASH_START, n, sizeof n));
    return 0;
}
