// The stable roots of a quadratic.
#include <math.h>
#include <stdio.h>
volatile double a = 1, b = 1e8, c = 1;
int main(void)
{
    double q = -(b + copysign(sqrt(b * b - 4 * a * c), b)) / 2;
    printf("%.17g %.17g\n", q / a, c / q);
}
