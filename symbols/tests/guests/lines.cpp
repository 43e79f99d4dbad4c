// Names that need demangling, in code and for functions.
#include <cstdio>

namespace phys {
template <class T> struct Solver {
    T h;
    __attribute__((noinline)) T step(T x) const { return x * h; }
};
__attribute__((noinline)) double overloaded(double x) { return x + 1; }
__attribute__((noinline)) double overloaded(float x) { return x + 2; }
__attribute__((noinline)) static double local(double x) { return x / 3; }
} // namespace phys

int main(int argc, char **) {
    phys::Solver<double> solver{0.5};
    double y = solver.step(argc) + phys::overloaded(double(argc)) + phys::overloaded(float(argc));
    std::printf("%g\n", y + phys::local(y));
}
