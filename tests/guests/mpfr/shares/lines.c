// Shares of two lines in the error of an output: those of a line that is unrolled add up.
#include <stdio.h>

int main(void) {
    volatile double hundredth = 0.01, tenth = 0.1, third = 1.0 / 3;
    double x[4] = {hundredth, tenth, third, 3 * tenth}, sum = 0, one;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        sum += (x[i] + 1e7) - 1e7; // SHARE unrolled
    one = (tenth + 1e8) - 1e8; // SHARE single
    printf("%.17g\n", sum + one);
    return 0;
}
