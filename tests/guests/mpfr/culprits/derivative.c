// A forward difference with too small a step.
#include <math.h>
#include <stdio.h>
volatile double x = 1, h = 1e-12;
int main(void)
{
    double shifted = x + h; // CULPRIT
    double after = sin(shifted);
    double before = sin(x);
    double rise = after - before; // CULPRIT
    printf("%.17g\n", rise / h);
}
// REMEDY 1.5
