// 49/49, by way of a rounded quotient, is one in the reals and less in floats.
// FAILS decision
#include <stdio.h>
volatile double one = 1, n = 49;
int main(void)
{
    double back = one / n * n;
    printf("%d %g\n", back < one, 0.5); // DECIDES 1 of 1
}
