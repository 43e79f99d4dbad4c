// The same by std::stoi, std::from_chars and streams.
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char **argv)
{
    int a = std::stoi(argv[1]), n, m;
    std::string line;
    std::getline(std::cin, line);
    long s;
    std::from_chars(line.data(), line.data() + line.size(), s);
    std::ifstream file(argv[2]);
    double p, q;
    file >> n >> m >> p >> q;
    printf("%.17g\n", a * p + n * m * q * q + s);
}
