// Sums with a power of two that was computed, in code that rounds floats by a magic number: what such a sum loses is an error. And
// what is rounded by the magic number is a decision: five times 0.3 is below 1.5, and rounded upwards.
// FAILS output
// CAUSES 12 20
#include <stdio.h>
#include <stdlib.h>

static volatile double totals[8];

static float nearest(float x) {
    float magic = 12582912.0f;
    return x + magic - magic;
}

__attribute__((noinline)) static void add(double power, const double *x) {
    for (int i = 0; i < 8; i++) totals[i] = power + x[i];
}

__attribute__((noinline)) static void take_off(double power) {
    for (int i = 0; i < 8; i++) totals[i] -= power;
}

int main(void) {
    double power = atof("1"), x[8];
    for (int i = 0; i < 52; i++) power += power;
    for (int i = 0; i < 8; i++) x[i] = atof("0.3") * (i + 1);
    add(power, x);
    take_off(power);
    for (int i = 0; i < 8; i++) printf("%.3g %.17g\n", nearest((float)x[i]), totals[i]);
    return 0;
}
