// Neumaier's sum of numbers of very different size: so large that reals round, too, until they settle themselves.
// CLEAN
#include <math.h>
#include <stdio.h>
volatile double terms[2][4] = {{1, 1e100, 1, -1e100}, {1, 1e30, 1, -1e30}};
int main(void)
{
    for (int row = 0; row < 2; row++) {
        double sum = 0, correction = 0;
        for (int i = 0; i < 4; i++) {
            double x = terms[row][i], t = sum + x;
            correction += fabs(sum) >= fabs(x) ? (sum - t) + x : (x - t) + sum;
            sum = t;
        }
        printf("%.17g\n", sum + correction);
    }
}
