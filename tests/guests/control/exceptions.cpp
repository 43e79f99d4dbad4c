// C++ exceptions through many frames, with cleanups, rethrow, nested handlers and exceptions in destructors' scope.
//@ link: pie nopie static static-pie
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

static int alive;
struct Guard {
    Guard() { alive++; }
    ~Guard() { alive--; }
};

__attribute__((noinline)) static int descend(int depth)
{
    Guard guard;
    if (depth == 0) throw std::runtime_error("bottom");
    return descend(depth - 1) + 1;
}

static std::string nested()
{
    try {
        try {
            descend(3);
        } catch (const std::runtime_error &) {
            std::throw_with_nested(std::logic_error("outer"));
        }
    } catch (const std::logic_error &e) {
        try {
            std::rethrow_if_nested(e);
        } catch (const std::exception &inner) {
            return std::string(e.what()) + " after " + inner.what();
        }
    }
    return "nothing";
}

static void function_try() try { throw 7; } catch (int n) { throw n + 1; }

int main()
{
    int caught = 0;
    for (int i = 0; i < 300; i++) {
        try {
            descend(i % 50);
        } catch (const std::exception &e) {
            caught += e.what()[0] == 'b';
        }
    }
    std::printf("%d caught, %d alive\n", caught, alive);
    std::puts(nested().c_str());
    try {
        function_try();
    } catch (int n) {
        std::printf("%d\n", n);
    }
    try {
        std::vector<int>().at(5);
    } catch (const std::out_of_range &) {
        std::puts("out of range");
    }
    try {
        volatile std::size_t huge = std::size_t(1) << 62;
        delete[] new char[huge];
    } catch (const std::bad_alloc &) {
        std::puts("no memory");
    }
    std::exception_ptr kept;
    try {
        throw std::string("kept");
    } catch (...) {
        kept = std::current_exception();
    }
    try {
        std::rethrow_exception(kept);
    } catch (const std::string &s) {
        std::puts(s.c_str());
    }
}
