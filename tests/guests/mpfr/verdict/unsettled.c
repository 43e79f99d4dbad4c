// 49/49, by way of a rounded quotient: no precision tells it from one.
// FAILS decision
#include <stdio.h>
volatile double one = 1, n = 49;
int main(void)
{
    double back = one / n * n;
    printf("%d %g\n", back < one, 0.5); // UNSETTLED 1 of 1
}
