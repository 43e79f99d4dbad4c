// A polynomial with positive coefficients at a positive point.
#include <stdio.h>
volatile double x = 0.7;
int main(void)
{
    double p = 0;
    for (int i = 20; i > 0; i--) p = p * x + 1.0 / i;
    printf("%.17g\n", p);
}
