// Floats leave in binary form by one call, in a function that two others call; through a library's buffer at that.
#include <stdio.h>

volatile double one = 1;

static __attribute__((noinline)) void save(const double *x, int count)
{
    fwrite(x, sizeof *x, count, stdout);
    fflush(stdout); // LEAVES
}

static __attribute__((noinline)) int wrong(void)
{
    double x[3];
    for (int i = 0; i < 3; i++) x[i] = (one * 1e16 + (i + 1) / 4.0) - 1e16;
    save(x, 3); // WRONG
    return 0;
}

static __attribute__((noinline)) int right(void)
{
    double x[2];
    for (int i = 0; i < 2; i++) x[i] = one / 3 + i;
    save(x, 2); // RIGHT
    return 0;
}

int main(void)
{
    return wrong() + right();
}
