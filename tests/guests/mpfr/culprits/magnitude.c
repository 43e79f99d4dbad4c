// The magnitude of a difference that floats take for zero, and that is negative in the reals.
#include <math.h>
#include <stdio.h>
volatile double a = 0.1, b = 0.30000000000000004, product;
int main(void)
{
    product = a * 3;
    double lost = product - b; // CULPRIT
    printf("%.17g\n", sqrt(fabs(lost)) + 1);
}
// REMEDY 1.5
