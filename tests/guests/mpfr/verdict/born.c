// NaN and infinities of exact operands: the reals have them as well.
// FAILS nan
#include <math.h>
#include <stdio.h>
volatile double zero = 0, one = 1, huge = INFINITY;
volatile float narrow_zero = 0;
volatile long double wide_zero = 0;
static double spread(double x)
{
    return 2 * x + one;
}
int main(void)
{
    printf("%g\n", spread(zero / zero)); // BORN
    printf("%g\n", huge - huge); // BORN
    printf("%g\n", sqrt(-one)); // BORN
    printf("%g\n", log(-one)); // BORN
    printf("%g\n", log(zero)); // BORN
    printf("%g\n", -one / zero); // BORN
    printf("%g\n", narrow_zero / narrow_zero); // BORN
    printf("%Lg\n", wide_zero / wide_zero); // BORN
    printf("%g %g\n", huge + one, (double)NAN);
}
