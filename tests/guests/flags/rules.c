// What rules for derivatives raise that the program does not, in every kind of operation.
//
// The flags are the program's own, with all exceptions masked and with all of them unmasked.
//@ libs: -lm
//@ flags: -mxsave
#define _GNU_SOURCE
#include <fenv.h>
#include <immintrin.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

double shift = 0;
static volatile double d_one = 1, d_three = 3, d_big = 0x1p600, d_small = 0x1p-600, d_half = 0.5;
static volatile double d_out;
static volatile float f_three = 3, f_out;
static volatile long double l_three = 3, l_out;

static double keep(double x)
{
    __asm__ volatile("" : "+x"(x));
    return x;
}

static void show(const char *what)
{
    unsigned short x87;
    unsigned flags = _mm_getcsr() & 0x3f;
    __asm__ volatile("fnstsw %0" : "=a"(x87));
    printf("%-12s %02x %02x\n", what, flags, x87 & 0x3f);
    feclearexcept(FE_ALL_EXCEPT);
    _mm_setcsr(_mm_getcsr() & ~0x3fu);
}

#define TRY(what, ...)      \
    do {                    \
        double x = shift;   \
        x = keep(x);        \
        __VA_ARGS__;        \
        show(what);         \
    } while (0)

// Zero, with derivatives of all sizes.
static double third(void) { return keep(shift / d_three); }
static double huge(void) { return keep(shift * d_big); }
static double tiny(void) { return keep(shift * d_small); }
static double infinite(void) { return keep(sqrt(keep(shift))); }
static double subnormal(void) { return keep(keep(tiny() * 0x1p-440)); }

static __m256d __attribute__((target("avx2,fma"))) four(double x) { return _mm256_setr_pd(x, x, 0, x); }

static void __attribute__((target("avx2,fma"))) packed(void)
{
    __m256d three = _mm256_set1_pd(d_three), x = four(third());
    __m256d r = _mm256_fmadd_pd(_mm256_mul_pd(x, three), three, _mm256_div_pd(x, three));
    r = _mm256_sqrt_pd(_mm256_add_pd(r, four(shift)));
    r = _mm256_mul_pd(r, r);
    d_out = r[0] + r[1] + r[3];
}

static void operations(void)
{
    TRY("nothing", d_out = x + d_one);
    TRY("divide", d_out = x / d_three);
    TRY("multiply", d_out = third() * d_three * third());
    TRY("add", d_out = third() + shift);
    TRY("subtract", d_out = third() - keep(third() * 0.3));
    TRY("overflow", d_out = huge() * d_big);
    TRY("underflow", d_out = tiny() * d_small);
    TRY("zero", d_out = sqrt(x));
    TRY("invalid", x = infinite(); d_out = x * keep(x) - keep(x));
    TRY("denormal", d_out = subnormal() + shift);
    TRY("root", d_out = sqrt(third() + d_one));
    TRY("fused", d_out = __builtin_fma(third(), third(), third()));
    TRY("narrow", f_out = (float)third());
    TRY("narrow big", f_out = (float)huge());
    TRY("narrow small", f_out = (float)tiny());
    TRY("floats", f_out = (float)keep(shift) / f_three * f_three);
    TRY("widen", d_out = (double)((float)third() * f_three));
    TRY("min", d_out = fmin(third(), huge()));
    TRY("absolute", d_out = fabs(third()) - third());
    TRY("long double", l_out = (long double)third() / l_three);
    TRY("packed", packed());
    TRY("to integer", d_out = (double)(long)(third() * 7));
    TRY("compare", d_out = third() < huge() ? third() : huge() * d_big);
}

static void functions(void)
{
    TRY("pow", d_out = pow(x, d_half));
    TRY("pow 0 0", d_out = pow(third(), 0 * x));
    TRY("asin", d_out = asin(x + d_one) * 0);
    TRY("acos", d_out = acos(x + d_one));
    TRY("cbrt", d_out = cbrt(x));
    TRY("exp", d_out = exp(third()));
    TRY("log", d_out = log(x + d_one));
    TRY("sin", d_out = sin(third()));
    TRY("tan", d_out = tan(huge()));
    TRY("atan", d_out = atan(third()));
    TRY("atan2", d_out = atan2(third(), d_three));
    TRY("hypot", d_out = hypot(third(), 0 * x));
    TRY("tanh", d_out = tanh(third()));
    TRY("log1p", d_out = log1p(third()));
    TRY("expm1", d_out = expm1(huge()));
    TRY("fmod", d_out = fmod(third(), d_three));
    TRY("floor", d_out = floor(third()));
    TRY("powf", f_out = powf((float)x, 0.5f));
    TRY("expf", f_out = expf((float)third()));
    TRY("sqrtl", l_out = sqrtl(l_three - 3 + third()));
    TRY("powl", l_out = powl((long double)shift, 0.5L));
    TRY("ldexp", d_out = ldexp(huge(), 500));
    TRY("erf", d_out = erf(third()));
    TRY("lgamma", d_out = lgamma(x + d_one));
}

// Each of the program's own exceptions, beside rules that raise all of them.
static void own(void)
{
    TRY("own zero", d_out = d_one / keep(x) + third());
    TRY("own invalid", d_out = keep(x) / keep(x) * third());
    TRY("own over", d_out = (huge() + d_big) * d_big);
    TRY("own under", d_out = (tiny() + d_small) * d_small);
    TRY("own inexact", d_out = (third() + d_one) / d_three);
    TRY("own denorm", d_out = keep(x + 0x1p-1074) + third());
    TRY("exact tiny", d_out = keep(x + 0x1p-1022) * d_half * third());
    TRY("own sqrt", d_out = sqrt(keep(x - d_one)));
    TRY("own narrow", f_out = (float)keep(x + 1e300));
    TRY("own log", d_out = log(x));
    TRY("own pow", d_out = pow(x, -d_one));
}

int main(void)
{
    feclearexcept(FE_ALL_EXCEPT);
    for (int i = 0; i < 8; i++) {
        operations();
        functions();
        own();
    }
    feclearexcept(FE_ALL_EXCEPT);
    // What raises nothing natively goes on with traps, too.
    for (int i = 0; i < 8; i++) {
        double x = shift;
        feenableexcept(FE_ALL_EXCEPT);
        d_out = x / d_three;
        d_out = huge() * d_big;
        d_out = tiny() * d_small;
        d_out = sqrt(x);
        x = infinite();
        d_out = keep(x) * keep(x);
        d_out = third() + huge();
        d_out = sqrt(third() + d_one);
        f_out = (float)third();
        d_out = pow(shift, d_half);
        d_out = asin(shift);
        d_out = cbrt(shift);
        d_out = exp(third());
        d_out = sin(third());
        fedisableexcept(FE_ALL_EXCEPT);
        show("trapped");
    }
    // The derivatives are what they are.
    printf("%g %g %g\n", shift / d_three, pow(shift + d_one, d_half), sqrt(shift + d_one) * exp(shift));
    return 0;
}
