// A square overflows that the reals would have taken the root of.
#include <math.h>
#include <stdio.h>
volatile double x = 1e200, y = 2e200;
int main(void)
{
    double xx = x * x; // CULPRIT
    double yy = y * y; // CULPRIT
    printf("%.17g\n", sqrt(xx + yy)); // CULPRIT
}
