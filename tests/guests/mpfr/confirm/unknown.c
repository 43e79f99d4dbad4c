// The reciprocal of an overflow is small in floats and in the reals. In executions that are not looked at an error in place knows nothing
// of what is made of infinities.
#include <math.h>
#include <stdio.h>
volatile double x = 1e11, y = 1e8;
int main(void)
{
    int large = 0;
    for (int n = 0; n < 1000; n++)
        large += 1 / exp(x) > 1e-300;
    printf("%d %.17g\n", large, sqrt(y * y + 1) - y);
}
