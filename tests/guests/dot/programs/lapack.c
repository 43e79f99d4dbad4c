// Linear systems, eigenvalues and least squares by LAPACK; every matrix depends on the input.
//@ libs: -lopenblas -lm, or -llapack -lblas -lm
#include <stdio.h>
#include <stdlib.h>

double shift = 0;

extern void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *pivots, double *b, const int *ldb, int *info);
extern void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
                   const int *lwork, int *info, size_t, size_t);
extern void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *, const int *,
                   const double *, const int *, const double *, double *, const int *, size_t, size_t);
extern void sgesv_(const int *n, const int *nrhs, float *a, const int *lda, int *pivots, float *b, const int *ldb, int *info);
extern double ddot_(const int *, const double *, const int *, const double *, const int *);
extern double dnrm2_(const int *, const double *, const int *);

enum { N = 24 };
static const int n = N, one = 1, work_size = 40 * N;

static double entry(int i, int j) { return ((i * 7 + j * 13) % 11) / 11.0 + (i == j ? 4 : 0) + shift * ((i + 2 * j) % 5); }

static void solve(void)
{
    double a[N * N], b[N];
    int pivots[N], info;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) a[i + j * N] = entry(i, j);
    for (int i = 0; i < N; i++) b[i] = 1 + i + shift * i;
    dgesv_(&n, &one, a, &n, pivots, b, &n, &info);
    for (int i = 0; i < N; i += 5) printf("%.17g\n", b[i]);
    printf("%.17g %.17g\n", ddot_(&n, b, &one, b, &one), dnrm2_(&n, b, &one));
}

static void solve_single(void)
{
    float a[N * N], b[N];
    int pivots[N], info;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) a[i + j * N] = (float)entry(i, j);
    for (int i = 0; i < N; i++) b[i] = (float)(1 + i + shift * i);
    sgesv_(&n, &one, a, &n, pivots, b, &n, &info);
    for (int i = 0; i < N; i += 5) printf("%.9g\n", b[i]);
}

static void eigenvalues(void)
{
    double a[N * N], w[N], work[40 * N];
    int info;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) a[i + j * N] = (entry(i, j) + entry(j, i)) / 2 + (i == j ? i : 0);
    dsyev_("V", "U", &n, a, &n, w, work, &work_size, &info, 1, 1);
    for (int i = 0; i < N; i += 5) printf("%.17g\n", w[i]);
}

static void product(void)
{
    static double a[N * N], c[N * N];
    const double unit = 1, zero = 0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) a[i + j * N] = entry(i, j);
    dgemm_("N", "T", &n, &n, &n, &unit, a, &n, a, &n, &zero, c, &n, 1, 1);
    for (int i = 0; i < N * N; i += 100) printf("%.17g\n", c[i]);
}

int main(int argc, char **argv)
{
    if (argc > 1) shift = strtod(argv[1], NULL);
    solve();
    eigenvalues();
    product();
    if (argc > 2) solve_single();
}
