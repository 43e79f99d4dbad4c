// The integrals of x^n e^(x−1) by the unstable recurrence.
#include <stdio.h>
volatile double start = 0.36787944117144233;
int main(void)
{
    double value = start;
    for (int i = 2; i <= 18; i++)
        value = 1 - i * value; // CULPRIT
    printf("%.17g\n", value);
}
