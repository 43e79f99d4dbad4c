// A function with more floating-point arguments than there are registers for: the last is on the stack.
#include <stdio.h>

__attribute__((noinline)) double nine(double a, double b, double c, double d, double e, double f, double g, double h, double i)
{
    return a * b * c * d * e * f * g * h + i * i;
}

int main(void)
{
    volatile double one = 1;
    printf("%g\n", nine(one, one, one, one, one, one, one, one, 3));
    return 0;
}
