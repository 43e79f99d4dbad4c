// The smaller root of a quadratic by the school formula.
#include <math.h>
#include <stdio.h>
volatile double a = 1, b = 1e8, c = 1;
int main(void)
{
    double root = sqrt(b * b - 4 * a * c);
    double top = -b + root; // CULPRIT
    printf("%.17g\n", top / (2 * a));
}
// REMEDY 1.5
