// Every function of the C math library in float, double and long double, to the last bit.
//@ link: pie static
//@ flags: -fno-builtin
//@ libs: -lm
#include "guest.h"
#include <math.h>

#define FUNCTIONS(X) \
    X(exp) X(exp2) X(expm1) X(exp10) X(log) X(log2) X(log10) X(log1p) X(logb) X(cbrt) X(sqrt) X(sin) X(cos) X(tan) \
    X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(lgamma) X(tgamma) \
    X(j0) X(j1) X(y0) X(y1) X(floor) X(ceil) X(trunc) X(round) X(rint) X(nearbyint) X(fabs)
#define FUNCTIONS_2(X) \
    X(pow) X(atan2) X(hypot) X(fmod) X(remainder) X(fdim) X(fmin) X(fmax) X(copysign) X(nextafter)

static const double points[] = {0.5, 1, 1.5, -0.75, 2.718281828, 10.25, -3.3, 1e-5, 100.125, 0.999999, -20.5, 1e10, 708.3, 0};
#define COUNT (int)(sizeof points / sizeof *points)

static uint64_t hash_long_double(uint64_t hash, long double x) { return hash_bytes(hash, &x, 10); }

#define ONE(fn)                                                                       \
    {                                                                                 \
        uint64_t h = HASH_START;                                                      \
        for (int i = 0; i < COUNT; i++) {                                             \
            double d = fn(points[i]);                                                  \
            float s = fn##f((float)points[i]);                                         \
            h = hash_long_double(hash_bytes(hash_bytes(h, &d, 8), &s, 4), fn##l(points[i])); \
        }                                                                             \
        printf("%-10s %016lx\n", #fn, h);                                              \
    }
#define TWO(fn)                                                                       \
    {                                                                                 \
        uint64_t h = HASH_START;                                                      \
        for (int i = 0; i < COUNT; i++)                                               \
            for (int k = 0; k < COUNT; k++) {                                         \
                double d = fn(points[i], points[k]);                                   \
                float s = fn##f((float)points[i], (float)points[k]);                   \
                h = hash_long_double(hash_bytes(hash_bytes(h, &d, 8), &s, 4), fn##l(points[i], points[k])); \
            }                                                                         \
        printf("%-10s %016lx\n", #fn, h);                                              \
    }

int main(void)
{
    FUNCTIONS(ONE)
    FUNCTIONS_2(TWO)
    double s, c, whole;
    int exponent, quotient;
    sincos(1.25, &s, &c);
    printf("%a %a ", s, c);
    printf("%a ", frexp(1234.5, &exponent));
    printf("%d %a ", exponent, modf(-7.75, &whole));
    printf("%a %a ", whole, ldexp(0.7, -1060));
    printf("%a ", remquo(29.5, 3, &quotient));
    printf("%d %a %a %a\n", quotient, jn(3, 2.5), yn(2, 7.5), fma(0.1, 10, -1));
    printf("%ld %lld %d\n", lround(2.5), llrint(-3.5), ilogb(1e-300));
    return 0;
}
