// Deep and mutual recursion: a hundred thousand frames, all returned from in order.
#include "guest.h"

static int is_odd(int n);
__attribute__((noinline)) static int is_even(int n)
{
    int below = n == 0 ? 1 : is_odd(n - 1);
    __asm__ volatile("" : : : "memory");
    return below;
}
__attribute__((noinline)) static int is_odd(int n)
{
    int below = n == 0 ? 0 : is_even(n - 1);
    __asm__ volatile("" : : : "memory");
    return below;
}

__attribute__((noinline)) static unsigned long ackermann(unsigned long m, unsigned long n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__attribute__((noinline)) static long fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

int main(void)
{
    printf("%d %d %lu %ld\n", is_even(100000), is_even(100001), ackermann(2, 300), fibonacci(22));
    return 0;
}
