// sqrt(x + 1) − sqrt(x) in C++, as a string.
#include <cmath>
#include <cstdio>
#include <string>

int main(int, char **argv)
{
    double x = std::stod(argv[1]);
    std::string text = std::to_string(std::sqrt(x + 1) - std::sqrt(x)); // PRINTED
    std::puts(text.c_str());
}
