// The same by std::stod, std::from_chars and streams.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char **argv)
{
    const char *text = getenv("SG_W");
    double a = std::stod(argv[argc - 2]), w, s, t, p;
    float q;
    std::from_chars(text, text + strlen(text), w);
    std::cin >> s >> t;
    std::ifstream file(argv[argc - 1]);
    std::string header;
    std::getline(file, header);
    int rows;
    file >> rows;
    double sum = a * a + w * s * t;
    for (int i = 0; i < rows && file >> p >> q; i++) sum += (i + 1) * p * p * q;
    printf("%.17g\n", sum);
}
