// As rounded.c, by streams.
#include <iomanip>
#include <iostream>
#include <sstream>

volatile double tenth = 0.1;

int main()
{
    double sum = 0;
    for (int i = 0; i < 10; i++) sum += tenth;
    std::stringstream text;
    text << std::fixed << std::setprecision(2) << sum * 0.015;
    double rounded;
    text >> rounded;
    std::cout << rounded * 1.5 << "\n";
}
