// Complex arithmetic and the complex functions of C.
#include "check.h"
#include <complex.h>

#if KIND == 4
typedef float complex number;
#elif KIND == 8
typedef double complex number;
#else
typedef long double complex number;
#endif
typedef long double complex wide_number;
#define C(name) M(name)

static void both(const char *name, number value, wide_number slope)
{
    check(name, C(creal)(value), creall(slope));
    check(name, C(cimag)(value), cimagl(slope));
}

/* z(x) = x + (2 - x/4) i, and its derivative. */
static number z_of(real x) { return x + (2 - x / 4) * I; }
static const wide_number dz = 1 - 0.25L * I;

#define Z(name, value, slope)                                       \
    do {                                                            \
        for (int i_ = 0; i_ < 2; i_++) {                            \
            const real p_ = i_ ? (real)-1.25 : (real)0.75;          \
            number z = z_of(p_ + shift);                            \
            wide_number w = (wide)p_ + (2 - (wide)p_ / 4) * I;      \
            (void)w;                                                \
            both(name, value, (slope) * dz);                        \
        }                                                           \
    } while (0)

static wide_number conjugate_slope(void) { return 1 + 0.25L * I; }

static void checks(void)
{
    const number a = 3 - 2 * I;
    const wide_number b = 3 - 2 * I;
    Z("add", z + a, 1);
    Z("mul", z * a, b);
    Z("square", z * z, 2 * w);
    Z("div", z / a, 1 / b);
    Z("div-by~4", a / z, -b / (w * w));
    Z("conj", C(conj)(z), conjugate_slope() / dz);
    Z("exp~2", C(cexp)(z), cexpl(w));
    Z("log~2", C(clog)(z), 1 / w);
    Z("sqrt~4", C(csqrt)(z), 1 / (2 * csqrtl(w)));
    Z("sin~4", C(csin)(z), ccosl(w));
    Z("cos~4", C(ccos)(z), -csinl(w));
    Z("sinh~4", C(csinh)(z), ccoshl(w));
    Z("pow~32", C(cpow)(z, a), b * cpowl(w, b - 1));
    Z("polynomial~4", (z * z + a) * z - 1, 3 * w * w + b);
    AT("abs", C(cabs)(z_of(x)), (w - (2 - w / 4) / 4) / hypotl(w, 2 - w / 4), 0.75, -1.25);
    AT("arg", C(carg)(z_of(x)), (-0.25L * w - (2 - w / 4)) / (w * w + (2 - w / 4) * (2 - w / 4)), 0.75, -1.25);
    number pole, quotient;
    /* The compiler's library scales by powers of two where a part of the numerator is zero. */
    const wide_number quarter = 0.25L * I;
    AT("one-by", (quotient = 1 / (1 + x * I / 4), C(creal)(quotient)), creall(-quarter / ((1 + quarter * w) * (1 + quarter * w))), 2, 0.001);
    AT("one-by-imaginary", (quotient = 1 / (1 + x * I / 4), C(cimag)(quotient)), cimagl(-quarter / ((1 + quarter * w) * (1 + quarter * w))), 2, 0.001);
    AT("imaginary-by", (quotient = 3 * I / ((real)1.5 - x * I / 4), C(creal)(quotient)), creall(3 * I * quarter / ((1.5L - quarter * w) * (1.5L - quarter * w))), 2, 0.001);
    AT("imaginary-by-imaginary", (quotient = 3 * I / ((real)1.5 - x * I / 4), C(cimag)(quotient)), cimagl(3 * I * quarter / ((1.5L - quarter * w) * (1.5L - quarter * w))), 2, 0.001);
    AT("polar", (pole = C(cexp)(x * I), C(creal)(pole)), -sinl(w), 0.75, -1.25);
}
