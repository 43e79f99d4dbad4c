// (1 − cos x) / x² at small x.
#include <math.h>
#include <stdio.h>
volatile double x = 1e-7;
int main(void)
{
    double c = cos(x);
    double numerator = 1 - c; // CULPRIT
    double result = numerator / (x * x);
    printf("%.17g\n", result);
}
// REMEDY 1.5
