// Exceptions cross from a shared library into the program and the other way round.
//@ link: pie nopie
//@ aux: thrower.cpp
//@ libs: -L{scratch} -lthrower -Wl,-rpath,$ORIGIN
#include <cstdio>
#include <stdexcept>

void call_back(void (*function)());
void throw_here();

int main()
{
    try {
        throw_here();
    } catch (const std::range_error &e) {
        std::puts(e.what());
    }
    try {
        call_back([] { throw std::domain_error("through the library"); });
    } catch (const std::exception &e) {
        std::puts(e.what());
    }
}
