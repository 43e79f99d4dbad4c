// The sum of the squares of all numbers of standard input.
#include <stdio.h>

int main(void)
{
    double x, sum = 0;
    while (scanf("%lf", &x) == 1) sum += x * x;
    printf("%.17g\n", sum);
    return 0;
}
