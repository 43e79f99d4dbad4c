// sqrt(x + 1) − sqrt(x) in C++, printed by iostream, in a vector and a template.
#include <cmath>
#include <iomanip>
#include <iostream>
#include <vector>

template <class T> T difference(const std::vector<T> &v) { return std::sqrt(v[0] + 1) - std::sqrt(v[0]); }

int main(int, char **argv)
{
    std::vector<double> v{std::stod(argv[1])};
    std::cout << std::setprecision(17) << difference(v) << '\n'; // PRINTED
}
