// std::complex and its functions.
#include "check.h"
#include <complex>

using number = std::complex<real>;
using wide_number = std::complex<wide>;

static void both(const char *name, number value, wide_number slope)
{
    check(name, value.real(), slope.real());
    check(name, value.imag(), slope.imag());
}

template <class F, class G> static void each(const char *name, F value, G slope)
{
    const wide_number dz(1, -0.25L);
    for (real p : {(real)0.75, (real)-1.25}) {
        real x = p + shift;
        both(name, value(number(x, 2 - x / 4)), slope(wide_number(p, 2 - (wide)p / 4)) * dz);
    }
}

static void checks()
{
    const number a(3, -2);
    const wide_number b(3, -2);
    each("add", [&](number z) { return z + a; }, [&](wide_number) { return wide_number(1); });
    each("mul", [&](number z) { return z * a; }, [&](wide_number) { return b; });
    each("square", [&](number z) { return z * z; }, [&](wide_number w) { return wide(2) * w; });
    each("div", [&](number z) { return z / a; }, [&](wide_number) { return wide(1) / b; });
    each("div-by~4", [&](number z) { return a / z; }, [&](wide_number w) { return -b / (w * w); });
    each("exp~2", [&](number z) { return std::exp(z); }, [&](wide_number w) { return std::exp(w); });
    each("log~2", [&](number z) { return std::log(z); }, [&](wide_number w) { return wide(1) / w; });
    each("sqrt~4", [&](number z) { return std::sqrt(z); }, [&](wide_number w) { return wide(1) / (wide(2) * std::sqrt(w)); });
    each("sin~4", [&](number z) { return std::sin(z); }, [&](wide_number w) { return std::cos(w); });
    each("pow~32", [&](number z) { return std::pow(z, a); }, [&](wide_number w) { return b * std::pow(w, b - wide(1)); });
    AT("abs", std::abs(number(x, 2 - x / 4)), (w - (2 - w / 4) / 4) / hypotl(w, 2 - w / 4), 0.75, -1.25);
    AT("norm", std::norm(number(x, 2 - x / 4)), 2 * w - (2 - w / 4) / 2, 0.75, -1.25);
    AT("polar", std::polar((real)2, x).imag(), 2 * cosl(w), 0.75, -1.25);
}
