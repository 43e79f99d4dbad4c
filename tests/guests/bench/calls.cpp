// Virtual calls, calls through function pointers, and switches: indirect branches with few targets and many.
#include <cstdio>
#include <cstdlib>

struct Shape {
    virtual ~Shape() = default;
    virtual long area(long x) const = 0;
};
template <int K> struct Kind : Shape {
    long area(long x) const override { return x * K + (x >> K); }
};

__attribute__((noinline)) static long add(long x) { return x + 3; }
__attribute__((noinline)) static long twist(long x) { return x ^ (x << 3); }
__attribute__((noinline)) static long halve(long x) { return x / 2 + 1; }

__attribute__((noinline)) static long choose(long op, long x)
{
    switch (op) {
    case 0: return x + 1;
    case 1: return x * 5;
    case 2: return x - 9;
    case 3: return x ^ 77;
    case 4: return x << 1;
    case 5: return x | 3;
    case 6: return -x;
    default: return x >> 2;
    }
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? std::atol(argv[1]) : 1000000, x = 1;
    Kind<1> a;
    Kind<2> b;
    Kind<3> c;
    const Shape *shapes[] = {&a, &b, &c, &a};
    long (*volatile functions[])(long) = {add, twist, halve, add};
    for (long i = 0; i < rounds; i++) {
        x = shapes[(x ^ i) & 3]->area(x & 0xffff);
        x = functions[(x >> 1) & 3](x);
        x = (choose((x ^ (x >> 5)) & 7, x) + i) & 0xfffffff;
    }
    std::printf("%ld\n", x);
}
