// A product and its exact error by fma, added up.
#include <math.h>
#include <stdio.h>
volatile double a = 1.1, b = 1.3;
int main(void)
{
    double p = a * b, e = fma(a, b, -p);
    printf("%.17g\n", p + e);
}
