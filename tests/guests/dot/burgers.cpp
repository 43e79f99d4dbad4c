// The two-dimensional Burgers equations by upwind differences: the norm of the final state, its initial state shifted.
// With -DDUAL by operator overloading, which prints the norm's derivative too.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#ifdef DUAL
#include "dual.h"
typedef Dual number;
#else
typedef double number;
#endif

double shift = 0;

typedef std::vector<std::vector<number>> field;

static number slope(number speed, number before, number here, number after, double h)
{
    return speed > number(0) ? (here - before) / h : (after - here) / h;
}

static number updated(const field &f, const field &u, const field &v, int i, int j, double dt, double h, double nu)
{
    number along_x = slope(u[i][j], f[i - 1][j], f[i][j], f[i + 1][j], h);
    number along_y = slope(v[i][j], f[i][j - 1], f[i][j], f[i][j + 1], h);
    number spread = (f[i + 1][j] + f[i - 1][j] + f[i][j + 1] + f[i][j - 1] - 4.0 * f[i][j]) / (h * h);
    return f[i][j] + dt * (nu * spread - u[i][j] * along_x - v[i][j] * along_y);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 40, steps = argc > 2 ? std::atoi(argv[2]) : 60;
    if (argc > 3) shift = std::strtod(argv[3], nullptr);
#ifdef DUAL
    number by(shift, 1);
#else
    number by = shift;
#endif
    double h = 1.0 / n, dt = 0.1 * h, nu = 1e-3;
    field u(n, std::vector<number>(n)), v = u;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double x = i * h, y = j * h;
            u[i][j] = 16 * x * (1 - x) * y * (1 - y) + 0.1 + by;
            v[i][j] = 0.5 - x * y + by;
        }
    for (int s = 0; s < steps; s++) {
        field next_u = u, next_v = v;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                next_u[i][j] = updated(u, u, v, i, j, dt, h, nu);
                next_v[i][j] = updated(v, u, v, i, j, dt, h, nu);
            }
        u.swap(next_u);
        v.swap(next_v);
    }
    number sum = 0;
    for (const field *f : {&u, &v})
        for (const auto &row : *f)
            for (number x : row) sum += x * x;
    number norm = sqrt(sum);
#ifdef DUAL
    std::printf("%.17g %.17g\n", norm.value, norm.dot);
#else
    std::printf("%.17g\n", norm);
#endif
}
