// Functions of zeros that are differences: what is made of their results is known as well as before.
#include <math.h>
#include <stdio.h>

volatile double one = 1, three = 3;

static __attribute__((noinline)) void show(int n, double sine, double angle, double root)
{
    if (n % 100 == 0) printf("%.15g %.15g %.15g\n", sine + 1, angle + 2, root + 3);
}

int main(void)
{
    for (int n = 0; n < 300; n++) {
        const double third = one / three, zero = third * 3 - one;
        show(n, sin(zero), atan2(zero, three), asinh(zero));
    }
    return 0;
}
