// Arithmetic operators, conversions between types, and short formulas made of them.
#include "check.h"

static real horner(const double *c, int n, real x)
{
    real sum = 0;
    for (int i = 0; i < n; i++) sum = sum * x + (real)c[i];
    return sum;
}

static real power(real x, int n)
{
    real result = 1;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1) result *= x;
    return result;
}

static real newton_root(real a)
{
    real r = a;
    for (int i = 0; i < 12; i++) r = (r + a / r) / 2;
    return r;
}

static real continued_fraction(real x)
{
    real f = x;
    for (int i = 5; i > 0; i--) f = x + (real)i / f;
    return f;
}

static wide continued_fraction_slope(wide x)
{
    wide f = x, d = 1;
    for (int i = 5; i > 0; i--) d = 1 - i * d / (f * f), f = x + i / f;
    return d;
}

static void operators(void)
{
    AT("add", x + 2, 1, 0.5, -3.25, 1000);
    AT("add-self", x + x, 2, 0.5, -3.25);
    AT("sub", x - 2, 1, 0.5, -3.25);
    AT("sub-from", 2 - x, -1, 0.5, -3.25);
    AT("sub-self", x - x, 0, 0.5, -3.25);
    AT("mul", x * 3, 3, 0.5, -3.25);
    AT("mul-self", x * x, 2 * w, 0.5, -3.25, 1e-3);
    AT("cube", x * x * x, 3 * w * w, 0.5, -3.25, 1e-3);
    AT("div", x / 3, 1 / 3.0L, 0.5, -3.25);
    AT("div-by", 3 / x, -3 / (w * w), 0.5, -3.25, 7);
    AT("div-both", (x + 1) / (x - 1), -2 / ((w - 1) * (w - 1)), 0.5, -3.25, 7);
    AT("neg", -x, -1, 0.5, -3.25);
    AT("neg-mul", -x * x, -2 * w, 0.5, -3.25);
    AT("sqrt", M(sqrt)(x), 1 / (2 * W(sqrt)(w)), 0.25, 2, 1000);
    AT("fma", M(fma)(x, 3, x * x), 3 + 2 * w, 0.5, -3.25);
    AT("fms", M(fma)(x, x, -x), 2 * w - 1, 0.25, -3.25);
    AT("fnma", M(fma)(-x, x, 2), -2 * w, 0.5, -3.25);
    AT("fnms", M(fma)(-x, 3, -x), -4, 0.5, -3.25);
    AT("abs", M(fabs)(x), w < 0 ? -1 : 1, 0.5, -3.25);
    AT("min", x < 1 ? x : (real)1, w < 1 ? 1 : 0, 0.5, -3.25, 2);
    AT("max", x > 1 ? 2 * x : (real)1, w > 1 ? 2 : 0, 0.5, -3.25, 2);
    AT("copysign", M(copysign)(x, -1), w < 0 ? 1 : -1, 0.5, -3.25);
}

static void conversions(void)
{
    AT("through-float^", (real)(float)x, 1, 0.5, -3.25);
    AT("through-double", (real)((double)x * 3.0), 3, 0.5, -3.25);
    AT("through-long-double", (real)((long double)x * x), 2 * w, 0.5, -3.25);
    AT("float-arithmetic^", (real)((float)x * (float)x), 2 * w, 0.5, -3.25);
    AT("int-times", (real)(int)(x * 10) * x, (int)(w * 10), 0.55, -3.25);
    AT("int64-times", (real)(int64_t)(x * 1000) * x, (int64_t)(w * 1000), 0.5627, -3.2504);
    AT("unsigned-times", (real)(uint64_t)(x * 1000) * x, (uint64_t)(w * 1000), 0.5627, 3.2504);
    AT("int-alone", (real)(int)x, 0, 0.5, -3.25);
    AT("plus-int", x * 2 + (real)(i_ + 1), 2, 0.5, -3.25);
}

static void formulas(void)
{
    static const double c[] = {1, -2, 0.5, 3, -1};
    real y;
    AT("horner", horner(c, 5, x), ((4 * w - 6) * w + 1) * w + 3, 0.5, -3.25);
    AT("power", power(x, 13), 13 * W(pow)(w, 12), 0.75, -1.25);
    AT("newton-root~4", newton_root(x), 1 / (2 * W(sqrt)(w)), 2, 7.5);
    AT("continued-fraction~4", continued_fraction(x), continued_fraction_slope(w), 2, 7.5);
    AT("increment", (y = x, y++, ++y, y--, y * y), 2 * (w + 1), 0.5, -3.25);
    AT("compound", (y = x, y += 2, y *= x, y -= x, y /= 4, y), (2 * w + 1) / 4, 0.5, -3.25);
    AT("mixed", (2 * x + 1) / (x * x + 1) - 3 / x,
       (2 * (w * w + 1) - (2 * w + 1) * 2 * w) / ((w * w + 1) * (w * w + 1)) + 3 / (w * w), 0.5, -3.25);
    AT("constant", (y = x, y = 3, y * y), 0, 0.5);
    AT("quarter", x * (real)0.25 + x / 8 + x * 1024, 1024.375L, 0.5, -3.25);
}

static void checks(void)
{
    operators();
    conversions();
    formulas();
}
