// (x − 1)^7 multiplied out, close to 1.
#include <stdio.h>
volatile double x = 1.001;
int main(void)
{
    double p = ((((((x - 7) * x + 21) * x - 35) * x + 35) * x - 21) * x + 7) * x - 1; // CULPRIT
    printf("%.17g\n", p);
}
