// The two-dimensional Burgers equations by explicit upwind differences; the norm of the final state is printed.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

double shift = 0;

struct Field {
    int n;
    std::vector<double> data;
    explicit Field(int size) : n(size), data(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)) {}
    double &operator()(int i, int j) { return data[static_cast<std::size_t>(i * n + j)]; }
    const double &operator()(int i, int j) const { return data[static_cast<std::size_t>(i * n + j)]; }
};

static double gradient(double speed, double before, double here, double after, double h)
{
    return speed > 0 ? (here - before) / h : (after - here) / h;
}

static void step(const Field &u, const Field &v, Field &un, Field &vn, double dt, double h, double nu)
{
    for (int i = 1; i < u.n - 1; i++)
        for (int j = 1; j < u.n - 1; j++) {
            double a = u(i, j), b = v(i, j);
            double ux = gradient(a, u(i - 1, j), a, u(i + 1, j), h), uy = gradient(b, u(i, j - 1), a, u(i, j + 1), h);
            double vx = gradient(a, v(i - 1, j), b, v(i + 1, j), h), vy = gradient(b, v(i, j - 1), b, v(i, j + 1), h);
            double lu = (u(i + 1, j) + u(i - 1, j) + u(i, j + 1) + u(i, j - 1) - 4 * a) / (h * h);
            double lv = (v(i + 1, j) + v(i - 1, j) + v(i, j + 1) + v(i, j - 1) - 4 * b) / (h * h);
            un(i, j) = a + dt * (nu * lu - a * ux - b * uy);
            vn(i, j) = b + dt * (nu * lv - a * vx - b * vy);
        }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 100, steps = argc > 2 ? std::atoi(argv[2]) : 100;
    double h = 1.0 / n, dt = 0.1 * h, nu = 1e-3;
    Field u(n), v(n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double x = i * h, y = j * h;
            u(i, j) = 16 * x * (1 - x) * y * (1 - y) + 0.1 + shift;
            v(i, j) = 0.5 - x * y + shift;
        }
    Field un(u), vn(v);
    for (int s = 0; s < steps; s++) {
        step(u, v, un, vn, dt, h, nu);
        std::swap(u.data, un.data);
        std::swap(v.data, vn.data);
    }
    double sum = 0;
    for (double x : u.data) sum += x * x;
    for (double x : v.data) sum += x * x;
    std::printf("%.17g\n", std::sqrt(sum));
}
