// Local variables of all kinds, in registers and frames, of functions that are inlined and that are not.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    double x, y;
};

static inline double square(double a) {
    double inner = a * 3;
    return inner * inner;
}

__attribute__((noinline)) double chain(double a) {
    double once = a + 1;
    double twice = once * 2;
    once = twice + a; // AGAIN
    return once * twice;
}

__attribute__((noinline)) double parts(double a, const char *text) {
    struct pair s = {a, 2 * a};
    double list[4];
    double read;
    for (int i = 0; i < 4; i++)
        list[i] = a * i;
    double *p = malloc(2 * sizeof *p);
    p[0] = a;
    p[1] = a + 1;
    sscanf(text, "%lf", &read);
    double result = s.x * s.y + list[2] * list[3] + p[0] * p[1] + read * read;
    free(p);
    return result;
}

__attribute__((noinline)) double choose(double a, int which) {
    double c;
    if (which)
        c = a * a;
    else
        c = a + 5;
    return c * a;
}

__attribute__((noinline)) long double wide(long double a) {
    long double w = a * 2;
    float narrow = (float)w + 1;
    return w * narrow;
}

__attribute__((noinline)) double loop(double a, int n) {
    double sum = a;
    for (int i = 1; i < n; i++)
        sum = sum * a + i;
    return sum;
}

int main(int argc, char **argv) {
    double a = argc > 1 ? strtod(argv[1], 0) : 2;
    double s = square(a);
    printf("square %.17g\n", s);
    printf("chain %.17g\n", chain(a));
    printf("parts %.17g\n", parts(a, "1.5"));
    printf("choose %.17g\n", choose(a, 1) + choose(a, 0));
    printf("wide %.17Lg\n", wide(a));
    printf("loop %.17g\n", loop(a, 4));
}
