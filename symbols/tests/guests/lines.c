/* Inlining two levels deep, on known lines. */
#include <stdio.h>

static inline double square(double x) {
    return x * x; /* line 5 */
}

static inline double norm(const double *v) {
    return square(v[0]) + square(v[1]); /* line 9 */
}

__attribute__((noinline)) double length(const double *v) {
    double n = norm(v); /* line 13 */
    return n / 2;       /* line 14 */
}

int main(int argc, char **argv) {
    double v[2] = {argc, 2.0};
    printf("%g\n", length(v)); /* line 19 */
    return argv == 0;
}
