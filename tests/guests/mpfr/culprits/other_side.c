// Magnitudes of differences that have another sign in the reals, more often than they are looked at.
#include <math.h>
#include <stdio.h>
volatile double tenth = 0.1;
volatile long double wide_tenth = 0.1L;
int main(void)
{
    double sum = 0;
    long double wide = 0;
    for (int i = 0; i < 200; i++) {
        double lost = tenth * 3 - 0.30000000000000004; // CULPRIT
        sum += fabs(lost);
        long double wide_lost = wide_tenth * 3 - 0.3L; // CULPRIT
        wide += fabsl(wide_lost);
    }
    printf("%.17g %.20Lg\n", sum, wide);
}
