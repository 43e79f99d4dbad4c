// Comparisons that come more often than they are counted, and equality, which is looked for throughout.
#include <stdio.h>

#define TIMES 1100000

double x = 4;

// Flags are dead before the comparison.
static __attribute__((noinline)) long scalar(double x)
{
    long n = 0;
    for (int i = 0; i < TIMES; i++)
        n += x > (double)(i & 7);
    return n;
}

// The carry of `cmpl` is added after the comparison.
static __attribute__((noinline)) long between(double x)
{
    long n = 0;
    for (int i = 0; i < TIMES; i++) {
        double mask = 3;
        __asm__ volatile("cmpl $4, %2\n\tcmpltsd %3, %1\n\tadcq $0, %0"
                         : "+r"(n), "+x"(mask) : "r"(i & 7), "x"(x) : "cc");
    }
    return n;
}

static __attribute__((noinline)) long packed(double x)
{
    typedef double two __attribute__((vector_size(16)));
    typedef long mask __attribute__((vector_size(16)));
    two xs = {x, 1};
    mask sum = {0, 0};
    for (int i = 0; i < TIMES; i++) {
        two limits = {i & 7, 2};
        sum += xs < limits;
    }
    return -sum[0];
}

static __attribute__((noinline)) long extended(long double x)
{
    long n = 0;
    for (int i = 0; i < TIMES; i++)
        n += x > (long double)(i & 7);
    return n;
}

static __attribute__((noinline)) long equality(double x)
{
    long n = 0;
    for (int i = 0; i < TIMES; i++)
        n += x == (double)(i & 7);
    return n;
}

int main(void)
{
    printf("%ld %ld %ld %ld %ld\n", scalar(x), between(x), packed(x), extended(x), equality(x));
    printf("%g\n", 2 * x);
    return 0;
}
