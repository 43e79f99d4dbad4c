// A product underflows to a subnormal, and the quotient shows it.
#include <stdio.h>
volatile double x = 1.23456789e-160, y = 1.1e-160;
int main(void)
{
    double product = x * y; // CULPRIT
    double back = product / y;
    printf("%.17g\n", back);
}
