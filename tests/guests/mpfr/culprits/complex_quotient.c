// The imaginary part of a quotient of complex numbers of nearly one direction.
#include <stdio.h>
volatile double a = 1.1, b = 1.3, c = 1.1000000000000001, d = 1.3000000000000003;
int main(void)
{
    double left = b * c;
    double right = a * d;
    double imaginary = left - right; // CULPRIT
    printf("%.17g\n", imaginary / (c * c + d * d));
}
// REMEDY 1.5
