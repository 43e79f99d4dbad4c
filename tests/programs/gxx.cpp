// g++ compiles a file that uses the standard library heavily.
//@ needs: g++
//@ follow: yes
//@ timeout: 120
//@ run compile: g++ -std=c++20 -O1 -c {file} -o gxx.o
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>

template <int N> struct Fibonacci { static constexpr long value = Fibonacci<N - 1>::value + Fibonacci<N - 2>::value; };
template <> struct Fibonacci<0> { static constexpr long value = 0; };
template <> struct Fibonacci<1> { static constexpr long value = 1; };

int main()
{
    std::map<std::string, std::vector<double>> table;
    for (int i = 0; i < 100; i++) table[std::to_string(i % 7)].push_back(i / 3.0);
    for (auto &[key, values] : table) std::cout << key << *std::max_element(values.begin(), values.end()) << '\n';
    std::cout << Fibonacci<80>::value << std::regex_match("abc", std::regex("a.c"));
}
