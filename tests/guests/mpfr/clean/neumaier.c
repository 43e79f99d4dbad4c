// Neumaier's sum of numbers of very different size. Where floats are equal and reals are not, >= says the same of both.
#include <math.h>
#include <stdio.h>
volatile double terms[4] = {1, 1e30, 1, -1e30};
int main(void)
{
    double sum = 0, correction = 0;
    for (int i = 0; i < 4; i++) {
        double x = terms[i], t = sum + x;
        correction += fabs(sum) >= fabs(x) ? (sum - t) + x : (x - t) + sum;
        sum = t;
    }
    printf("%.17g\n", sum + correction);
}
