// The logarithm of what is below zero in floats, by a rounding, and above in the reals.
// FAILS output nan
#include <math.h>
#include <stdio.h>
volatile double tenth = 0.1;
int main(void)
{
    double sum = 0;
    for (int i = 0; i < 10; i++)
        sum += tenth;
    printf("%g\n", log(sum - 1)); // BORN
}
