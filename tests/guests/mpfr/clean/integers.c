// Whole numbers in doubles: every operation is exact.
#include <stdio.h>
volatile double n = 100000;
int main(void)
{
    double sum = 0;
    for (double i = 1; i <= n; i++) sum += i * i;
    printf("%.17g\n", sum);
}
