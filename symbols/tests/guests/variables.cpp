// Prints what it knows of its own variables, as variables.c does.
#include <array>
#include <complex>
#include <cstdio>
#include <initializer_list>

static void say(const char *need, const char *spec, const char *format, std::initializer_list<const void *> at) {
    std::printf("%s\t%s\t%s", need, spec, format);
    for (const void *p : at) std::printf("\t%p", p);
    std::printf("\n");
}

namespace phys {
double nu = 0.1;
static float hidden = 2;
namespace inner {
long double wide = 3;
}
struct Base {
    double b;
};
struct Solver : Base {
    static double step;
    static inline double shared = 3;
    double x[2];
    double run(double);
};
double Solver::step = 0.5;
template <class T> struct Grid {
    static T spacing;
};
template <class T> T Grid<T>::spacing = 1;
double Solver::run(double y) {
    static double calls = 1;
    calls += y + hidden;
    say("s", "phys::Solver::run::calls", "f64", {&calls});
    say("s", "run::calls", "f64", {&calls});
    return calls * step;
}
} // namespace phys

namespace {
double secret = 4;
}

std::array<double, 4> array;
std::array<std::array<float, 3>, 2> nested;
std::complex<float> z;
std::complex<double> zs[2];
phys::Solver solver;

double overloaded(double x) { return x; }
double overloaded(int x) { return x; }

int main() {
    say("s", "phys::nu", "f64", {&phys::nu});
    say("s", "::phys::nu", "f64", {&phys::nu});
    say("s", "_ZN4phys2nuE", "f64", {&phys::nu});
    say("s", "nu", "f64", {&phys::nu});
    say("s", "phys::hidden", "f32", {&phys::hidden});
    say("d", "phys::inner::wide", "f80", {&phys::inner::wide});
    say("d", "inner::wide", "f80", {&phys::inner::wide});
    say("s", "phys::Solver::step", "f64", {&phys::Solver::step});
    say("s", "Solver::step", "f64", {&phys::Solver::step});
    say("s", "phys::Solver::shared", "f64", {&phys::Solver::shared});
    say("s", "phys::Grid<double>::spacing", "f64", {&phys::Grid<double>::spacing});
    say("s", "(anonymous namespace)::secret", "f64", {&secret});
    say("s", "secret", "f64", {&secret});
    say("s", "array[1..3]", "f64", {&array[1], &array[2]});
    say("d", "nested[1][2]", "f32", {&nested[1][2]});
    say("d", "z", "f32", {&z, reinterpret_cast<float *>(&z) + 1});
    say("d", "zs[1].im", "f64", {reinterpret_cast<double *>(&zs[1]) + 1});
    say("d", "solver.b", "f64", {&solver.b});
    say("d", "solver.x[1]", "f64", {&solver.x[1]});
    return !(solver.run(overloaded(1.0) + overloaded(1)) + secret + phys::hidden > 0);
}
