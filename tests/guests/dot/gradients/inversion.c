// Loops whose subscripts are sums of each other, from a paper on the inversion of addresses (Hascoët, Utke, Naumann 2008).
//
// `prog` as it is; `prog I H` with x[I] moved by H; `prog 0 0 OUTER INNER` with as many turns.
#define X 9
double x[X] = {0.91, 0.87, 1.04, 0.96, 1.02, 0.89, 1.01, 0.93, 0.98};

static int outer = 3, inner = 4;
#define MORE(argc, argv) (outer = argc > 3 ? atoi(argv[3]) : outer, inner = argc > 4 ? atoi(argv[4]) : inner)
#include "moved.h"

#define MOST 4000000
static double a[MOST], p[MOST];

/* Two elements are multiplied in each turn, at places that depend on those of the turn before. */
static void products(int i, int j)
{
    for (int l = 0; l < inner; l++) {
        int k = i - j, m = k + 3 + l;
        i = k + 2 * l;
        a[i] = a[j] * p[k] * a[m];
        j = j + m + 4;
        i = i + j + 1;
        a[j] = a[i] * p[k] * a[m];
    }
}

/* The first example there: both subscripts step from one to the other. */
static void steps(int limit)
{
    for (int j = 1; j < limit;) {
        int k = j + 1;
        j = k + 2;
        a[j] = a[k] * a[j];
    }
}

static void compute(void)
{
    int used = outer + 64 * inner + 400;
    for (int i = 0; i < used; i++) {
        a[i] = x[i % X];
        p[i] = 0.9 + 0.1 * x[(i + 4) % X];
    }
    for (int o = 0; o < outer; o++) products(o, o);
    steps(4 * inner);
    double sum = 0;
    for (int i = 0; i < 400; i++) sum += a[i] * (1 + i % 3);
    printf("%.17g\n", sum);
}
