// LU decomposition with partial pivoting, again and again; the determinant's logarithm is printed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 60
double shift = 0;
static double a[N][N];

static double decompose(void)
{
    double log_determinant = 0;
    for (int k = 0; k < N; k++) {
        int pivot = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
        for (int j = 0; j < N; j++) {
            double t = a[k][j];
            a[k][j] = a[pivot][j], a[pivot][j] = t;
        }
        log_determinant += log(fabs(a[k][k]));
        for (int i = k + 1; i < N; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < N; j++) a[i][j] -= a[i][k] * a[k][j];
        }
    }
    return log_determinant;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    double sum = 0;
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) a[i][j] = (i * 7919 + j * 104729 + r) % 1009 / 1009.0 + (i == j) + shift;
        sum += decompose();
    }
    printf("%.15g\n", sum);
    return 0;
}
