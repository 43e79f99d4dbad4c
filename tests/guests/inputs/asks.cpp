// Numbers of standard input whose values are the lines that ask for them, by what C++'s library does between.
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

int main()
{
    double a, c;
    float b;
    std::string word;
    std::cin >> a; // 12.5
    std::cin >> b // 13.5
        >> word;
    double d = std::stod(word); // 15.5
    std::cin >> word;
    std::istringstream(word) >> c; // 17.5
    std::cout << std::setprecision(17) << a * b + c * d << '\n';
}
