// 49, by way of its logarithm: no precision tells it from 49.
// FAILS decision
#include <math.h>
#include <stdio.h>
volatile double n = 49;
int main(void)
{
    double back = exp(log(n));
    printf("%d %g\n", back < n, 0.5); // UNSETTLED 1 of 1
}
