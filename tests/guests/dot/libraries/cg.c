// Conjugate gradients for a symmetric system made of the numbers read, to convergence in exact arithmetic.
#include "read.h"
#define N 5

int main(void)
{
    double given[2 * N], a[N][N], x[N] = {0}, r[N], p[N], q[N];
    if (read_all(given, 2 * N) != 2 * N) return 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = given[i] * given[j] + (i == j ? 4 + i : 0.0);
    double rho = 0;
    for (int i = 0; i < N; i++) {
        r[i] = p[i] = given[N + i];
        rho += r[i] * r[i];
    }
    for (int k = 0; k < N; k++) {
        double pq = 0, next = 0;
        for (int i = 0; i < N; i++) {
            q[i] = 0;
            for (int j = 0; j < N; j++) q[i] += a[i][j] * p[j];
            pq += p[i] * q[i];
        }
        for (int i = 0; i < N; i++) {
            x[i] += rho / pq * p[i];
            r[i] -= rho / pq * q[i];
            next += r[i] * r[i];
        }
        if (k == 1) printf("%.17g\n", next);
        if (k >= 2) break;
        for (int i = 0; i < N; i++) p[i] = r[i] + next / rho * p[i];
        rho = next;
    }
    for (int i = 0; i < N; i++) printf("%.17g\n", x[i]);
    return 0;
}
