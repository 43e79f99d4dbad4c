// An exception nobody catches ends in terminate, abort and SIGABRT.
//@ exit: SIGABRT
#include <cstdio>
#include <cstdlib>
#include <exception>

int main()
{
    std::set_terminate([] {
        std::puts("terminate");
        std::fflush(stdout);
        std::abort();
    });
    throw 5;
}
