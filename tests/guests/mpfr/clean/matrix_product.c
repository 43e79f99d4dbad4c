// A product of well-conditioned matrices with positive entries.
#include <stdio.h>
volatile double seed = 0.37;
int main(void)
{
    double a[8][8], b[8][8], trace = 0;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) a[i][j] = 1 / (i + j + seed), b[i][j] = i * seed + j + 1;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 8; k++) trace += a[i][k] * b[k][i];
    printf("%.17g\n", trace);
}
