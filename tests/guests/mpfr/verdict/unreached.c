// An infinity that is divided by, and a NaN that is left out, reach nothing.
// FAILS nan
#include <stdio.h>
volatile double zero = 0, one = 1;
volatile double sink;
int main(void)
{
    double infinite = one / zero; // BORN
    sink = zero / zero; // BORN
    printf("%g\n", one / infinite);
}
