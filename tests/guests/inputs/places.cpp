// Vectors, references and members of the class itself, named as C++ has them; the last argument moves one of them.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

struct Grid {
    std::vector<double> values;
    double spacing;
    std::vector<Grid> children;

    __attribute__((noinline)) double norm(const double &factor) const
    {
        double sum = 0;
        for (double value : values) sum += value * value * spacing;
        for (const Grid &child : children) sum += std::sin(child.values[1]) + child.spacing * factor;
        return sum;
    }
};

namespace solver {
std::unique_ptr<Grid> grid;

__attribute__((noinline)) double solve(const std::vector<float> &weights)
{
    double sum = 0;
    for (float weight : weights) sum += double(weight) * weight;
    return sum * grid->spacing;
}
} // namespace solver

int main(int argc, char **argv)
{
    double h = argc > 2 ? std::atof(argv[2]) : 0;
    auto moved = [&](const char *name) { return std::strcmp(argv[1], name) == 0 ? h : 0; };
    Grid child{{5, 6 + moved("child")}, 0.75, {}}, parent{{1, 2, 3}, 0.5 + moved("spacing"), {child}};
    for (int i = 0; i < 3; i++) parent.values[i] += moved("values") + (i == 1 ? moved("value1") : 0);
    double factor = 4 + moved("factor");
    std::printf("%.17g\n", parent.norm(factor));
    solver::grid = std::make_unique<Grid>(Grid{{}, 1.5 + moved("grid"), {}});
    std::printf("%.17g\n", solver::solve({2 + float(moved("weights")), 3 + float(moved("weights"))}));
}
