// exp(−20) by its series: terms of alternating sign.
#include <stdio.h>
volatile double x = -20;
int main(void)
{
    double sum = 1, term = 1;
    for (int i = 1; i < 120; i++) {
        term = term * x / i;
        sum += term; // CULPRIT
    }
    printf("%.17g\n", sum);
}
