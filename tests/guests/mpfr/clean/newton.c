// Newton's iteration corrects its own errors.
#include <stdio.h>
volatile double a = 2;
int main(void)
{
    double r = a;
    for (int i = 0; i < 8; i++) r = (r + a / r) / 2;
    printf("%.17g\n", r);
}
