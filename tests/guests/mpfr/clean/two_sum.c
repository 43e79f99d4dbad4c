// TwoSum: a sum and its exact error, used together.
#include <stdio.h>
volatile double a = 1e16, b = 1.25;
int main(void)
{
    double s = a + b, bb = s - a, e = (a - (s - bb)) + (b - bb);
    double high = s - a;
    printf("%.17g\n", high + e);
}
