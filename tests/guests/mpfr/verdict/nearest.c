// Conversions to the nearest integer, by functions and by an instruction, of sums on the other side of a half than the reals are, or on
// the same, and of numbers that are half-way between two integers indeed.
// FAILS decision
#include <emmintrin.h>
#include <math.h>
#include <stdio.h>
volatile double part = 0.7, half = 0.5;
int main(void)
{
    long (*volatile nearest)(double) = lround;
    long long (*volatile longest)(double) = llround;
    long (*volatile narrow)(float) = lroundf;
    long (*volatile wide)(long double) = lroundl;
    long total = 0;
    for (int i = 1; i <= 3000; i++) {
        double sum = 2 * (i & 7);
        for (int k = 0; k < 5; k++)
            sum += part;
        total += nearest(sum); // DECIDES 1125 of 3000
        total += longest(sum); // DECIDES 1125 of 3000
        total += wide(sum); // DECIDES 1125 of 3000
        total += _mm_cvtsd_si64(_mm_set_sd(sum)); // DECIDES 1125 of 3000
        total += nearest(sum + 0.25);
        total += narrow((float)i * 0.1f);
        total += nearest(i + half);
        total += _mm_cvtsd_si64(_mm_set_sd(i + half));
    }
    printf("%ld %g\n", total, 0.5);
}
