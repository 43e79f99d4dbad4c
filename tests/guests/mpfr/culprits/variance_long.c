// The variance of long doubles by the square of their mean: sums in a loop that is looked at for its first turns only.
#include <math.h>
#include <stdio.h>

int main(void)
{
    long double sum = 0, squares = 0, roots = 0;
    double narrow = 0;
    const int n = 1000;
    for (int i = 1; i <= n; i++) {
        long double x = 1e6L + 1 / (long double)(i + 2);
        sum += x;
        squares += x * x;
        roots += sqrtl(x);
        narrow = (double)(roots / x);
    }
    long double mean = sum / n;
    printf("%.17Lg\n", squares / n - mean * mean); // CULPRIT
    printf("%.20Lg %.17g\n", roots, narrow);
    return 0;
}
