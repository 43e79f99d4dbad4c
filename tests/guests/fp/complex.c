// Complex arithmetic and functions, with infinities where multiplication needs care.
//@ libs: -lm
#include "guest.h"
#include <complex.h>
#include <math.h>

#ifndef CMPLX
#define CMPLX(x, y) __builtin_complex((double)(x), (double)(y))
#endif

static void show(const char *name, double complex z) { printf("%-8s %a %a\n", name, creal(z), cimag(z)); }

int main(void)
{
    volatile double complex a = 1.5 - 2.25 * I, b = -0.125 + 3 * I, z = CMPLX(INFINITY, 1);
    volatile long double complex l = 0.1L + 0.7L * I;
    show("*", a * b);
    show("/", a / b);
    show("inf *", z * a);
    show("inf /", a / z);
    show("cexp", cexp(a));
    show("clog", clog(b));
    show("csqrt", csqrt(a));
    show("cpow", cpow(a, b));
    show("ctanh", ctanh(b));
    show("casin", casin(a));
    long double complex r = cexpl(l) / l;
    printf("%La %La %a\n", creall(r), cimagl(r), cabs(a));
    return 0;
}
