// A linear system by LAPACK's dgesv, and eigenvalues by its dsyev, of matrices made of the numbers read.
#include "read.h"
#define N 3

void dgesv_(const int *n, const int *count, double *a, const int *lda, int *pivots, double *b, const int *ldb, int *info);
void dsyev_(const char *job, const char *part, const int *n, double *a, const int *lda, double *values, double *work,
            const int *size, int *info);

int main(void)
{
    double given[N * N + N], a[N * N], b[N], symmetric[N * N], values[N], work[64];
    int n = N, one = 1, size = 64, pivots[N], info;
    if (read_all(given, N * N + N) != N * N + N) return 1;
    for (int i = 0; i < N; i++) {
        b[i] = given[N * N + i];
        for (int j = 0; j < N; j++) {
            a[j * N + i] = given[i * N + j] + (i == j ? 3.0 : 0.0);
            symmetric[j * N + i] = given[i * N + j] + given[j * N + i] + (i == j ? 2.0 * i : 0.0);
        }
    }
    dgesv_(&n, &one, a, &n, pivots, b, &n, &info);
    if (info != 0) return 2;
    dsyev_("V", "U", &n, symmetric, &n, values, work, &size, &info);
    if (info != 0) return 3;
    for (int i = 0; i < N; i++) printf("%.17g %.17g\n", b[i], values[i]);
    return 0;
}
