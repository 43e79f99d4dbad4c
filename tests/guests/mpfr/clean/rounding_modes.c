// Functions that compilers make of a change of the rounding mode and an instruction.
#include <fenv.h>
#include <math.h>
#include <stdio.h>
volatile long double a = 5.3109L;
volatile double b = -2.7183;
int main(void)
{
    long double x = a * 1.1L;
    double y = b * 1.1;
    printf("%.21Lg %.21Lg %.21Lg %.21Lg\n", floorl(x), ceill(x), truncl(x), rintl(x));
    printf("%.17g %.17g %.17g %.17g\n", floor(y), ceil(y), trunc(y), rint(y));
    fesetround(FE_DOWNWARD);
    double down = nearbyint(y);
    long double wide = rintl(x);
    fesetround(FE_TONEAREST);
    printf("%.17g %.21Lg\n", down, wide);
}
