// Klein's sum of second order: corrections are compared with each other, which are zero in the reals.
#include <math.h>
#include <stdio.h>
volatile double terms[6] = {1, 1e30, 3.25e-3, -1e30, 0.1, 7e7};
int main(void)
{
    double sum = 0, first = 0, second = 0;
    for (int i = 0; i < 6; i++) {
        double x = terms[i], t = sum + x;
        double c = fabs(sum) >= fabs(x) ? (sum - t) + x : (x - t) + sum;
        sum = t;
        t = first + c;
        second += fabs(first) >= fabs(c) ? (first - t) + c : (c - t) + first;
        first = t;
    }
    printf("%.17g\n", sum + first + second);
}
