// A function that ends in a call is jumped to where compilers optimise: the line that says so is named all the same.
#include <math.h>
#include <stdio.h>
volatile double x = -33.3;
__attribute__((noinline)) static double softplus(double x)
{
    return log(1 + exp(x)); // CULPRIT
}
int main(void)
{
    double y = softplus(x);
    printf("%.17g\n", y);
}
// REMEDY 1.5
