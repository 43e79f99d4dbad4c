// Two long doubles with derivatives exchange sign and exponent, by functions and in place: each has its digits under the other's
// exponent, which has no derivative. What is done by integers alone is counted, since it may have been meant otherwise.
#include <stdint.h>
#include <stdio.h>

double x = 1.5;

/* Not known to the compiler: each call is one. */
#define KEPT __attribute__((noinline, noipa))

typedef union {
    long double d;
    struct {
        uint64_t digits;
        uint16_t end;
    } x;
} wide;

static KEPT void exchange(long double *a, long double *b)
{
    uint16_t end = ((wide *)a)->x.end;
    ((wide *)a)->x.end = ((wide *)b)->x.end;
    ((wide *)b)->x.end = end;
}

static KEPT long double put_together(long double digits, long double end)
{
    wide a = {digits}, b = {end}, made;
    made.x.digits = a.x.digits;
    made.x.end = b.x.end;
    return made.d;
}

int main(void)
{
    long double a = 1.1 * x, b = -12.5L * x * x;
    exchange(&a, &b);
    /* a is -1.65 * 16 then, and b 28.125 / 16. */
    printf("%.17g %.17g\n", (double)a, (double)b);
    long double of_one = put_together(1.1 * x, 1.1 * x);
    printf("%.17g\n", (double)of_one);
    printf("%.17g\n", (double)put_together(1.1 * x, 12.5L * x));
    return 0;
}
