// A rounded number is as large as itself, and nothing is left of it without itself.
// CLEAN
#include <stdio.h>
volatile double one = 1, n = 3;
int main(void)
{
    double third = one / n;
    volatile double copy = third;
    printf("%d %d %g\n", third < copy, third >= copy, third - copy);
}
