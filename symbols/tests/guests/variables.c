/* Prints what it knows of its own variables: what a SPEC needs (d: debug information, s: symbols), the SPEC, the
   format and the addresses of the floats in memory order. */
#include <complex.h>
#include <stdio.h>

#define SAY(need, spec, format, ...)                                                                                   \
    do {                                                                                                               \
        const volatile void *at[] = {__VA_ARGS__};                                                                          \
        printf("%s\t%s\t%s", need, spec, format);                                                                      \
        for (unsigned i = 0; i < sizeof at / sizeof *at; i++) printf("\t%p", at[i]);                                   \
        printf("\n");                                                                                                  \
    } while (0)

typedef double real;
typedef const volatile real setting;
typedef double v4 __attribute__((vector_size(32)));
struct point {
    real x;
    float y;
    struct {
        double u, v;
    };
    double arr[3];
};

real nu = 0.1;
float single = 2;
long double wide = 3;
long double wides[3];
setting fixed = 4;
static double hidden = 5;
double a[4][5];
float cube[2][3][4];
double open[] = {1, 2, 3};
struct point p, ps[3];
double _Complex z;
float _Complex zs[2];
long double _Complex zw;
v4 vector;
int count;
double *pointer;
short halves[3];
_Thread_local double local_to_thread;
union {
    double d;
    float f[2];
} both;

static double twice(double x) {
    static double calls = 0.5;
    calls += x;
    SAY("s", "calls", "f64", &calls);
    SAY("d", "twice::calls", "f64", &calls);
    return 2 * x + calls;
}

int main(void) {
    SAY("s", "nu", "f64", &nu);
    SAY("s", "single", "f32", &single);
    SAY("d", "wide", "f80", &wide);
    SAY("s", "wide:longdouble", "f80", &wide);
    SAY("d", "wides[1..]", "f80", &wides[1], &wides[2]);
    SAY("s", "fixed", "f64", &fixed);
    SAY("s", "hidden", "f64", &hidden);
    SAY("d", "'variables.c'::hidden", "f64", &hidden);
    SAY("d", "a[1][2]", "f64", &a[1][2]);
    SAY("d", "a(1, 2)", "f64", &a[1][2]);
    SAY("d", "a[3]", "f64", &a[3][0], &a[3][1], &a[3][2], &a[3][3], &a[3][4]);
    SAY("d", "a[1..3][4]", "f64", &a[1][4], &a[2][4]);
    SAY("d", "a[..][0]", "f64", &a[0][0], &a[1][0], &a[2][0], &a[3][0]);
    SAY("s", "a[7]:double", "f64", &a[1][2]);
    SAY("d", "cube[1][0..=1][2..]", "f32", &cube[1][0][2], &cube[1][0][3], &cube[1][1][2], &cube[1][1][3]);
    SAY("s", "open[1..3]", "f64", &open[1], &open[2]);
    SAY("s", "open", "f64", &open[0], &open[1], &open[2]);
    SAY("s", "single:f32", "f32", &single);
    SAY("d", "p.y", "f32", &p.y);
    SAY("d", "p.v", "f64", &p.v);
    SAY("d", "p.arr[1..3]", "f64", &p.arr[1], &p.arr[2]);
    SAY("d", "ps[1..3].arr[0..2]", "f64", &ps[1].arr[0], &ps[1].arr[1], &ps[2].arr[0], &ps[2].arr[1]);
    SAY("d", "z", "f64", &z, (double *)&z + 1);
    SAY("d", "z.im", "f64", (double *)&z + 1);
    SAY("d", "zs[1]", "f32", (float *)&zs[1], (float *)&zs[1] + 1);
    SAY("d", "zs[0..2].re", "f32", (float *)&zs[0], (float *)&zs[1]);
    SAY("d", "zw", "f80", &zw, (long double *)&zw + 1);
    SAY("s", "vector[2]", "f64", (double *)&vector + 2);
    SAY("d", "both.f[1]", "f32", &both.f[1]);
    SAY("s", "both:double", "f64", &both);
    local_to_thread = count + halves[0];
    return !(twice(nu) > 0 && !pointer);
}
