// Doubles that are printed as long doubles: they are as good as doubles are.
#include <stdio.h>
volatile double third = 1, many = 3;
volatile float narrow = 0.1f;
static void __attribute__((noinline)) show(long double x) { printf("%.21Lg\n", x); }
int main(void)
{
    double quotient = third / many;
    printf("%.18Lg %.21Lg\n", (long double)quotient, (long double)(quotient * 5));
    long double kept = quotient - 2;
    show(kept);
    show(quotient + 1e-3);
    float single = narrow * 3;
    printf("%.12Lg\n", (long double)single);
}
