// log(1 + x) at small x: the argument has lost x's digits already.
#include <math.h>
#include <stdio.h>
volatile double x = 1e-13;
int main(void)
{
    double sum = 1 + x; // CULPRIT
    double l = log(sum); // CULPRIT
    printf("%.17g\n", l / x);
}
// REMEDY 1.5
