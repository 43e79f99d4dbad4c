// exp(x) − 1 at small x.
#include <math.h>
#include <stdio.h>
volatile double x = 1e-12;
int main(void)
{
    double e = exp(x);
    double d = e - 1; // CULPRIT
    printf("%.17g\n", d / x);
}
// REMEDY 1.5
