// Numbers are lost in 128 bits, and in half precision, which compilers' libraries do with integers: nobody follows that.
#include <stdio.h>
volatile double large = 1e30, small = 0.3, third = 0.1;
int main(void)
{
    __float128 sum = (__float128)large * 1e10 + small;
    printf("%g\n", (double)(sum - (__float128)large * 1e10));
#ifdef __FLT16_MAX__
    _Float16 half = (_Float16)third;
    printf("%.9g\n", (double)half);
#endif
}
