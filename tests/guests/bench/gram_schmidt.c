// Gram-Schmidt orthogonalisation of a matrix's columns, again and again.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 50
double shift = 0;
static double q[N][N];

static void orthogonalise(void)
{
    for (int j = 0; j < N; j++) {
        for (int k = 0; k < j; k++) {
            double dot = 0;
            for (int i = 0; i < N; i++) dot += q[k][i] * q[j][i];
            for (int i = 0; i < N; i++) q[j][i] -= dot * q[k][i];
        }
        double norm = 0;
        for (int i = 0; i < N; i++) norm += q[j][i] * q[j][i];
        norm = sqrt(norm);
        for (int i = 0; i < N; i++) q[j][i] /= norm;
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    double sum = 0;
    for (int r = 0; r < rounds; r++) {
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) q[j][i] = (i * 31 + j * 17 + r) % 97 / 97.0 + (i == j) + shift;
        orthogonalise();
        sum += q[N / 2][N / 3];
    }
    printf("%.15g\n", sum);
    return 0;
}
