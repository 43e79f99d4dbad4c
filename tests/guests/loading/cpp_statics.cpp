// Static objects of C++ are constructed before main, function-local ones on first use, and destroyed in reverse.
//@ link: pie nopie static
#include <cstdio>

struct Noisy {
    const char *name;
    explicit Noisy(const char *n) : name(n) { std::printf("+%s\n", name); }
    ~Noisy() { std::printf("-%s\n", name); }
};

static Noisy one("one");
static Noisy two("two");
thread_local Noisy local("thread-local");

static Noisy &lazy()
{
    static Noisy object("lazy");
    return object;
}

int main()
{
    std::puts("main");
    lazy();
    lazy();
    std::puts(local.name);
}
