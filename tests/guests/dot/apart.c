// The upper half of a float with a derivative is set to a constant by a function for that alone: nothing is left of the number, and
// each is counted.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.7;

/* Not known to the compiler: each call is one. */
#define KEPT __attribute__((noinline, noipa))

static KEPT void set_high(double *value, int to) { ((int *)value)[1] = to; }
static KEPT void copy_high(double *value, int to) { memcpy((char *)value + 4, &to, sizeof to); }

static KEPT double set(double value)
{
    set_high(&value, 0x40290000);
    return value * 2;
}

static KEPT double copied(double value)
{
    copy_high(&value, 0x40290000);
    return value * 2;
}

int main(void)
{
    double sum = 0;
    /* The derivative is short or long. */
    for (int i = 0; i < 10; i++) sum += set(x) + set(1.1 * x) + copied(x) + copied(1.1 * x);
    printf("%.17g %.17g\n", sum, x * x);
    return 0;
}
