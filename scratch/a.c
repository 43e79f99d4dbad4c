#include <stdio.h>
#include <math.h>
#include <stdlib.h>
static double diff(double x) { return sqrt(x + 1) - sqrt(x); }
static double sum(int n) { double s = 0; for (int i = 0; i < n; i++) s += 0.1; return s; }
int main(int argc, char **argv) {
    double x = argc > 1 ? atof(argv[1]) : 1e10;
    for (int i = 0; i < 5; i++, x *= 10.3)
        printf("%.17g\n", diff(x));
    printf("%.17g\n", sum(100000));
    double t = 0; int n = 0;
    while (t < 1.0) { t += 0.1; n++; }
    printf("%d\n", n);
    printf("%g\n", 1 - cos(x * 1e-21));
    return 0;
}
