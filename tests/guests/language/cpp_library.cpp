// The C++ library at large: streams, strings, containers, algorithms, regular expressions, random numbers, chrono.
//@ link: pie static
#include <algorithm>
#include <chrono>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

int main()
{
    std::mt19937_64 random(42);
    std::vector<double> numbers(2000);
    std::normal_distribution<double> normal;
    std::generate(numbers.begin(), numbers.end(), [&] { return normal(random); });
    std::sort(numbers.begin(), numbers.end(), std::greater<>());
    std::cout << std::setprecision(17) << numbers.front() << ' ' << std::accumulate(numbers.begin(), numbers.end(), 0.0) << '\n';
    std::cout << std::hexfloat << 0.1 << std::defaultfloat << ' ' << std::scientific << 1234.5 << ' ' << std::fixed << 2.5f << '\n';
    std::map<std::string, int> counts;
    std::istringstream text("to be or not to be that is the question");
    for (std::string word; text >> word;) counts[word]++;
    for (auto &[word, count] : counts) std::cout << word << count << ' ';
    std::cout << '\n' << std::regex_replace(std::string("2024-01-31"), std::regex("(\\d+)-(\\d+)-(\\d+)"), "$3.$2.$1") << '\n';
    std::variant<int, std::string> either = "text";
    std::visit([](auto &&value) { std::cout << value << '\n'; }, either);
    std::istringstream floats("1.5 -2e10 nan 0x1p3 7");
    double x;
    while (floats >> x) std::cout << x << ' ';
    std::cout << '\n';
    auto shared = std::make_shared<std::vector<int>>(10, 3);
    std::weak_ptr<std::vector<int>> weak = shared;
    shared.reset();
    std::cout << weak.expired() << '\n';
    auto start = std::chrono::steady_clock::now();
    std::cout << (std::chrono::steady_clock::now() >= start) << std::endl;
}
