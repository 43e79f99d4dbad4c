// Half and quadruple precision in software, of powers of two: their digits are zeros, and lost all the same.
#include <stdio.h>

double x = 2;

int main(void)
{
    double y = x;
    volatile _Float16 half = (_Float16)y;
    volatile float narrow = (float)y;
    volatile _Float16 other = (_Float16)narrow;
    volatile __float128 wide = (__float128)y;
    printf("%g %g %g\n", (double)half, (double)(float)other, (double)(wide * wide));
    return 0;
}
