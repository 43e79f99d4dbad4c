// Differences of roots of what is read from standard input, the second time as well; and an exit status that is not 0.
#include <math.h>
#include <stdio.h>
int main(void)
{
    double x;
    while (scanf("%lf", &x) == 1)
        printf("%.17g\n", sqrt(x + 1) - sqrt(x)); // CULPRIT
    return 3;
}
