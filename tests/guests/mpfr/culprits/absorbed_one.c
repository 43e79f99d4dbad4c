// (x + 1) − x at large x: the sum absorbs what the difference then misses.
#include <stdio.h>
volatile double x = 1e16;
int main(void)
{
    double y = x + 1; // CULPRIT
    printf("%.17g\n", y - x); // CULPRIT
}
// REMEDY 1.5
