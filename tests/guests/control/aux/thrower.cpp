// Part of control/exceptions_shared: throws, and calls back into the program from a frame with a cleanup.
#include <cstdio>
#include <stdexcept>

struct Cleanup {
    ~Cleanup() { std::puts("cleanup in the library"); }
};

void call_back(void (*function)())
{
    Cleanup cleanup;
    function();
}

void throw_here() { throw std::range_error("from the library"); }
