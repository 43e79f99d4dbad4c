// The reciprocal of an overflow is small in floats and in the reals: an error in place knows nothing of what is made of infinities.
#include <math.h>
#include <stdio.h>
volatile double x = 1e11, y = 1e8;
int main(void)
{
    if (1 / exp(x) > 1e-300) puts("large");
    printf("%.17g\n", sqrt(y * y + 1) - y);
}
