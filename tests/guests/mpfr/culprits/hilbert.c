// Gram-Schmidt on the columns of a Hilbert matrix, which are nearly parallel: what is left of one after its projections
// are taken away is mostly rounding.
#include <math.h>
#include <stdio.h>

#define N 8

int main(void)
{
    double q[N][N];
    for (int j = 0; j < N; j++) {
        double v[N];
        for (int i = 0; i < N; i++) v[i] = 1.0 / (i + j + 1);
        for (int k = 0; k < j; k++) {
            double dot = 0;
            for (int i = 0; i < N; i++) dot += q[k][i] / (i + j + 1);
            for (int i = 0; i < N; i++) v[i] -= dot * q[k][i]; // CULPRIT cancellation
        }
        double norm = 0;
        for (int i = 0; i < N; i++) norm += v[i] * v[i];
        for (int i = 0; i < N; i++) q[j][i] = v[i] / sqrt(norm);
    }
    printf("%.17g\n", q[N - 1][0]);
    return 0;
}
