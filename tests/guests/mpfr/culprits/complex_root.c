// The real part of a complex square root near the branch cut.
#include <math.h>
#include <stdio.h>
volatile double x = -1, y = 1e-7;
int main(void)
{
    double modulus = sqrt(x * x + y * y); // CULPRIT
    double sum = modulus + x; // CULPRIT
    printf("%.17g\n", sqrt(sum / 2));
}
// REMEDY 1.5
