// The variance in one pass: the difference of two large sums.
#include <stdio.h>
volatile double offset = 1e8;
int main(void)
{
    double sum = 0, squares = 0;
    int n = 100;
    for (int i = 0; i < n; i++) {
        double x = offset + i * 0.01;
        sum += x;
        squares += x * x;
    }
    double mean_square = sum * sum / n;
    double spread = squares - mean_square; // CULPRIT
    printf("%.17g\n", spread / (n - 1));
}
