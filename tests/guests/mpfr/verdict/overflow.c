// An overflow, and the NaN that comes of it.
// FAILS output nan
#include <math.h>
#include <stdio.h>
volatile double large = 1e308, ten = 10;
int main(void)
{
    double beyond = large * ten; // BORN
    double back = beyond - beyond; // BORN
    printf("%g\n", beyond);
    printf("%g\n", back);
}
