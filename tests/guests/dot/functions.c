// Every real function of the C math library, at points of each of its branches.
#include "check.h"

#define PI 3.14159265358979323846264338327950288L
#define LN2 0.693147180559945309417232121458176568L
#define LN10 2.30258509299404568401799145468436421L
#define EULER 0.577215664901532860606512090082402431L

/* The digamma function where it has a closed form: positive multiples of a half, and by reflection negative ones. */
static wide digamma(wide x)
{
    if (x < 0.25L) return digamma(x + 1) - 1 / x;
    wide sum = -EULER, from = 1;
    if (x != floorl(x)) sum -= 2 * LN2, from = 0.5L;
    for (wide k = from; k < x; k++) sum += 1 / k;
    return sum;
}

static real parts(real x, int which)
{
    real s, c;
    M(sincos)(x, &s, &c);
    return which ? c : s;
}

static real fraction(real x)
{
    int exponent;
    return M(frexp)(x, &exponent);
}

static wide scale_of_fraction(wide x)
{
    int exponent;
    frexpl(x, &exponent);
    return ldexpl(1, -exponent);
}

static real split(real x, int which)
{
    real whole, part = M(modf)(x, &whole);
    return which ? whole : part;
}

static real quotient(real x, real y)
{
    int q;
    return M(remquo)(x, y, &q);
}

static real gamma_sign(real x)
{
    int sign;
#if KIND == 4
    return lgammaf_r(x, &sign);
#elif KIND == 8
    return lgamma_r(x, &sign);
#else
    return lgammal_r(x, &sign);
#endif
}

static void exponentials(void)
{
    AT("exp", M(exp)(x), W(exp)(w), -2.5, 0, 0.75, 20);
    AT("exp2", M(exp2)(x), W(exp2)(w) * LN2, -2.5, 0, 0.75, 20);
    AT("exp10", M(exp10)(x), W(exp10)(w) * LN10, -2.5, 0, 0.75, 9);
    AT("expm1", M(expm1)(x), W(exp)(w), -2.5, 1e-9, 0.75, 20);
    AT("log", M(log)(x), 1 / w, 1e-3, 0.75, 1, 20);
    AT("log2", M(log2)(x), 1 / (w * LN2), 1e-3, 0.75, 1, 20);
    AT("log10", M(log10)(x), 1 / (w * LN10), 1e-3, 0.75, 1, 20);
    AT("log1p", M(log1p)(x), 1 / (1 + w), -0.5, 1e-9, 0.75, 20);
    AT("logb", M(logb)(x), 0, 0.75, 20);
    AT("pow-base", M(pow)(x, (real)2.5), 2.5L * W(pow)(w, 1.5L), 0.75, 1, 20);
    AT("pow-exponent", M(pow)((real)2.5, x), W(pow)(2.5L, w) * W(log)(2.5L), -3, 0, 0.75, 9);
    AT("pow-both", M(pow)(x, x), W(pow)(w, w) * (1 + W(log)(w)), 0.75, 1, 4.5);
    AT("pow-negative-base", M(pow)(x, 3), 3 * w * w, -2, 1.5);
    AT("cbrt", M(cbrt)(x), 1 / (3 * W(cbrt)(w) * W(cbrt)(w)), -8, 0.75, 20);
    AT("hypot", M(hypot)(x, 3), w / W(hypot)(w, 3), -4, 0.75, 20);
    AT("hypot-second", M(hypot)(3, x), w / W(hypot)(w, 3), -4, 0.75, 20);
    AT("hypot-self", M(hypot)(x, x), W(sqrt)(2.0L) * (w < 0 ? -1 : 1), -4, 0.75);
    AT("sqrt", M(sqrt)(x), 1 / (2 * W(sqrt)(w)), 0.75, 20);
}

static void trigonometry(void)
{
    AT("sin", M(sin)(x), W(cos)(w), -2.5, 0, 0.75, 20);
    AT("cos", M(cos)(x), -W(sin)(w), -2.5, 0.75, 20);
    AT("tan", M(tan)(x), 1 / (W(cos)(w) * W(cos)(w)), -2.5, 0, 0.75, 20);
    AT("sincos-sin", parts(x, 0), W(cos)(w), -2.5, 0, 0.75, 20);
    AT("sincos-cos", parts(x, 1), -W(sin)(w), -2.5, 0.75, 20);
    AT("sin-times-cos~4", M(sin)(x) * M(cos)(x), W(cos)(2 * w), -2.5, 0, 0.5);
    AT("asin", M(asin)(x), 1 / W(sqrt)(1 - w * w), -0.75, 0, 0.5);
    AT("acos", M(acos)(x), -1 / W(sqrt)(1 - w * w), -0.75, 0, 0.5);
    AT("atan", M(atan)(x), 1 / (1 + w * w), -2.5, 0, 0.75, 20);
    AT("atan2-y", M(atan2)(x, 3), 3 / (w * w + 9), -2.5, 0.75, 20);
    AT("atan2-y-left", M(atan2)(x, -3), -3 / (w * w + 9), -2.5, 0.75, 20);
    AT("atan2-x", M(atan2)(3, x), -3 / (w * w + 9), -2.5, 0.75, 20);
    AT("sinh", M(sinh)(x), W(cosh)(w), -2.5, 0, 0.75, 9);
    AT("cosh", M(cosh)(x), W(sinh)(w), -2.5, 0.75, 9);
    AT("tanh~2", M(tanh)(x), 1 / (W(cosh)(w) * W(cosh)(w)), -1.5, 0, 0.75);
    AT("asinh", M(asinh)(x), 1 / W(sqrt)(1 + w * w), -2.5, 0, 0.75, 20);
    AT("acosh", M(acosh)(x), 1 / W(sqrt)(w * w - 1), 1.5, 20);
    AT("atanh", M(atanh)(x), 1 / (1 - w * w), -0.75, 0, 0.5);
}

static void special(void)
{
    AT("erf~2", M(erf)(x), 2 / W(sqrt)(PI) * W(exp)(-w * w), -1.5, 0, 0.75);
    AT("erfc~2", M(erfc)(x), -2 / W(sqrt)(PI) * W(exp)(-w * w), -1.5, 0, 0.75, 2);
    AT("lgamma~4", M(lgamma)(x), digamma(w), 0.5, 1, 4.5, -0.5);
    AT("lgamma_r~4", gamma_sign(x), digamma(w), 0.5, 1, 4.5, -0.5);
    AT("tgamma~4", M(tgamma)(x), W(tgamma)(w) * digamma(w), 0.5, 1, 4.5, -0.5);
    AT("j0~4", M(j0)(x), -W(j1)(w), 0.75, 2.5, 6);
    AT("j1~4", M(j1)(x), W(j0)(w) - W(j1)(w) / w, 0.75, 2.5, 6);
    AT("jn~4", M(jn)(3, x), (W(jn)(2, w) - W(jn)(4, w)) / 2, 0.75, 2.5, 6);
    AT("y0~4", M(y0)(x), -W(y1)(w), 0.75, 2.5, 6);
    AT("y1~4", M(y1)(x), W(y0)(w) - W(y1)(w) / w, 0.75, 2.5, 6);
    AT("yn~4", M(yn)(3, x), (W(yn)(2, w) - W(yn)(4, w)) / 2, 0.75, 2.5, 6);
}

static void remainders(void)
{
    AT("fmod", M(fmod)(x, 2), 1, -7.25, 0.75, 9.5);
    AT("fmod-by", M(fmod)(10, x), -truncl(10 / w), -3.25, 0.75, 4.5);
    AT("remainder", M(remainder)(x, 2), 1, -7.25, 0.75, 9.5);
    AT("remainder-by", M(remainder)(10, x), -rintl(10 / w), -3.25, 0.75, 4.5);
    AT("remquo", quotient(x, 2), 1, -7.25, 0.75, 9.5);
    AT("remquo-by", quotient(10, x), -rintl(10 / w), -3.25, 0.75, 4.5);
    AT("fdim", M(fdim)(x, 2), w > 2 ? 1 : 0, -7.25, 9.5);
    AT("fdim-by", M(fdim)(2, x), w < 2 ? -1 : 0, -7.25, 9.5);
    AT("fmin", M(fmin)(x, 2), w < 2 ? 1 : 0, -7.25, 9.5);
    AT("fmax", M(fmax)(x, 2), w > 2 ? 1 : 0, -7.25, 9.5);
    AT("fma", M(fma)(x, x, x), 2 * w + 1, -7.25, 9.5);
    AT("fabs", M(fabs)(x), w < 0 ? -1 : 1, -7.25, 9.5);
    AT("copysign", M(copysign)(x, 1), w < 0 ? -1 : 1, -7.25, 9.5);
}

static void pieces(void)
{
    AT("ldexp", M(ldexp)(x, 5), 32, -7.25, 0.75);
    AT("ldexp-down", M(ldexp)(x, -3), 0.125L, -7.25, 0.75);
    AT("scalbn", M(scalbn)(x, -3), 0.125L, -7.25, 0.75);
    AT("scalbln", M(scalbln)(x, 4), 16, -7.25, 0.75);
    AT("frexp", fraction(x), scale_of_fraction(w), -7.25, 0.75, 100);
    AT("modf-part", split(x, 0), 1, -7.25, 0.75);
    AT("modf-whole", split(x, 1), 0, -7.25, 0.75);
    AT("nextafter", M(nextafter)(x, 10), 1, -7.25, 0.75);
    AT("rint", M(rint)(x), 0, -7.25, 0.75);
    AT("nearbyint", M(nearbyint)(x), 0, -7.25, 0.75);
    AT("round", M(round)(x), 0, -7.25, 0.75);
    AT("trunc", M(trunc)(x), 0, -7.25, 0.75);
    AT("floor", M(floor)(x), 0, -7.25, 0.75);
    AT("ceil", M(ceil)(x), 0, -7.25, 0.75);
    AT("roundeven", M(roundeven)(x), 0, -7.25, 0.75);
    AT("lrint", x * (real)M(lrint)(x), rintl(w), -7.25, 0.75);
    AT("llround", x * (real)M(llround)(x), roundl(w), -7.25, 0.75);
    AT("fraction-by-floor", x - M(floor)(x), 1, -7.25, 0.75);
}

static void compositions(void)
{
    AT("exp-sin", M(exp)(M(sin)(x)), W(exp)(W(sin)(w)) * W(cos)(w), -2.5, 0.75);
    AT("gauss~2", M(exp)(-x * x / 2), -w * W(exp)(-w * w / 2), -1.5, 0.75);
    AT("log-sum~2", M(log)(M(exp)(x) + 1), 1 / (1 + W(exp)(-w)), -2.5, 0.75);
    AT("root-log", M(sqrt)(M(log)(x) + 2), 1 / (2 * w * W(sqrt)(W(log)(w) + 2)), 0.75, 5);
    AT("pythagoras~8", M(sin)(x) * M(sin)(x) + M(cos)(x) * M(cos)(x) + x, 1, 0.75, 2);
}

static void checks(void)
{
    exponentials();
    trigonometry();
    special();
    remainders();
    pieces();
    compositions();
}
