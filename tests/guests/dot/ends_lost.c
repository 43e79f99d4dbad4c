// Ends of floats with derivatives that are set by functions for that alone, digits under another exponent, and digits taken for an
// integer: nothing is left of the number, and each is counted.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.7;

/* Not known to the compiler: each call is one. */
#define KEPT __attribute__((noinline, noipa))

static KEPT void set(uint16_t *end, uint16_t to) { *end = to; }
static KEPT double twice(const double *value) { return *value * 2; }
static KEPT long double product(const long double *value) { return *value * 2; }

static KEPT double digits_over(long double value)
{
    long double made = 1;
    memcpy(&made, &value, 8);
    return (double)product(&made);
}

static KEPT double taken_for_integer(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (double)(int64_t)((bits & 0xfffffffffffff) | 1ull << 52);
}

int main(void)
{
    double sum = 0;
    for (int i = 0; i < 10; i++) {
        double value = 1.1 * x;
        set((uint16_t *)&value + 3, 0x4005);
        sum += twice(&value) + digits_over(x) + taken_for_integer(x);
    }
    printf("%.17g %.17g\n", sum, x * x);
    return 0;
}
