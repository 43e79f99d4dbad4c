// What C++ programs do with floats: containers, algorithms, templates, virtual calls, exceptions, lambdas, operators.
#include "check.h"
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <valarray>
#include <variant>
#include <vector>

template <class T> struct vec3 {
    T x, y, z;
    vec3 operator+(const vec3 &o) const { return {x + o.x, y + o.y, z + o.z}; }
    vec3 operator*(T s) const { return {x * s, y * s, z * s}; }
    T dot(const vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
};

struct shape {
    virtual ~shape() = default;
    virtual real area() const = 0;
};
struct square final : shape {
    real side;
    explicit square(real s) : side(s) {}
    real area() const override { return side * side; }
};
struct disc final : shape {
    real radius;
    explicit disc(real r) : radius(r) {}
    real area() const override { return 3 * radius * radius; }
};

static real areas(real x)
{
    std::vector<std::unique_ptr<shape>> shapes;
    for (int i = 0; i < 4; i++) {
        if (i % 2) shapes.push_back(std::make_unique<square>(x + (real)i));
        else shapes.push_back(std::make_unique<disc>(x * (real)i));
    }
    real sum = 0;
    for (const auto &s : shapes) sum += s->area();
    return sum;
}

static real thrown(real x)
{
    try {
        if (x > -100) throw x * x;
    } catch (real y) {
        return 3 * y;
    }
    return 0;
}

static real sorted(real x)
{
    std::vector<real> v{5, x, 2 * x, 1, x * x};
    std::sort(v.begin(), v.end());
    return v[4] + 10 * v[0];
}

static real grown(real x)
{
    std::vector<real> v;
    for (int i = 0; i < 1000; i++) v.push_back(x * (real)i);
    std::reverse(v.begin(), v.end());
    v.erase(v.begin() + 10, v.begin() + 20);
    v.insert(v.begin(), x);
    return std::accumulate(v.begin(), v.end(), real(0));
}

static real mapped(real x)
{
    std::map<int, real> m;
    for (int i = 0; i < 20; i++) m[(i * 7) % 20] += x * (real)i;
    return std::accumulate(m.begin(), m.end(), real(0), [](real s, auto &e) { return s + e.second * (real)e.first; });
}

static wide mapped_slope()
{
    wide sum = 0;
    for (int i = 0; i < 20; i++) sum += i * ((i * 7) % 20);
    return sum;
}

static real captured(real x)
{
    std::function<real(real)> f = [x](real y) { return x * y + y; };
    std::function<real(real)> g = std::bind(f, x);
    return f(2) + g(0);
}

static real wrapped(real x)
{
    std::variant<int, real> v = x;
    std::optional<real> o = std::get<real>(v) * 2;
    auto [a, b] = std::make_tuple(*o, x * x);
    std::array<real, 3> c{a, b, x};
    std::swap(c[0], c[2]);
    return c[0] + 10 * c[1] + 100 * c[2];
}

static real with_valarray(real x)
{
    std::valarray<real> v(17), w(17);
    for (size_t i = 0; i < 17; i++) v[i] = x * (real)i, w[i] = (real)i;
    std::valarray<real> u = v * w + real(2) * v;
    return u.sum() + std::valarray<real>(u[std::slice(1, 3, 4)]).sum();
}

static wide valarray_slope()
{
    wide sum = 0;
    for (int i = 0; i < 17; i++) sum += i * i + 2 * i;
    for (int i = 1; i < 13; i += 4) sum += i * i + 2 * i;
    return sum;
}

static void checks()
{
    AT("vec3", (vec3<real>{x, 1, x * x} + vec3<real>{1, x, 2} * 3).dot({x, 2, 1}), 2 * w + 3 + 6 + 2 * w, 0.75, -2.5);
    AT("virtual", areas(x), 2 * (w + 1) + 2 * (w + 3) + 24 * w, 0.75, -2.5);
    AT("throw", thrown(x), 6 * w, 0.75, -2.5);
    AT("sort", sorted(x), w > 0 ? 20 * w : 2 * w + 20, 0.75, -2.5);
    AT("vector", grown(x), 999 * 500 - 9845 + 1, 0.75, -2.5);
    AT("map", mapped(x), mapped_slope(), 0.75, -2.5);
    AT("function", captured(x), 2 * w + 3, 0.75, -2.5);
    AT("variant", wrapped(x), 1 + 20 * w + 200, 0.75, -2.5);
    AT("valarray", with_valarray(x), valarray_slope(), 0.75, -2.5);
}
