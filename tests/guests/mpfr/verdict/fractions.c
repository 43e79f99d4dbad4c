// Numbers that are added and taken off again round to fractions, or inside a fused operation: what is left is exact.
// CLEAN
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// 2^x by the nearest 64th, which stands in the last digits of the sum.
static double by_64ths(double x) {
    double magic = 0x1.8p52 / 64, sum = x + magic, nearest = sum - magic;
    uint64_t digits;
    memcpy(&digits, &sum, sizeof digits);
    int64_t steps = (int64_t)(digits << 12) >> 12;
    steps -= (int64_t)1 << 51;
    return ldexp(exp2((steps & 63) / 64.0) * exp2(x - nearest), (int)(steps >> 6));
}

static float by_16ths(float x) {
    float magic = 786432.0f, nearest = x + magic - magic;
    return exp2f(nearest) * exp2f(x - nearest);
}

// e^x by the nearest power of two.
static double by_powers(double x) {
    double magic = 0x1.8p52, nearest = fma(x, M_LOG2E, magic) - magic;
    return ldexp(exp(fma(nearest, -M_LN2, x)), (int)nearest);
}

int main(void) {
    for (int i = 1; i <= 20; i++) {
        double x = atof("0.1") * i;
        printf("%.13g %.13g\n", by_64ths(x), by_powers(x));
        printf("%.4g\n", by_16ths((float)x));
    }
    return 0;
}
