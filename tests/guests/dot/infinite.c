// Infinities and zeros whose operands have no derivative, in code whose other operands have: what has none contributes nothing,
// whether or not the program has raised the exception that comes of 0 · ∞.
#include <math.h>
#include <stdio.h>

enum { TURNS = 3000 };

double x = 1.5;
volatile double three = 3, bounds[3] = {2, 2, INFINITY}, zero = 0;
volatile float three_f = 3, bounds_f[3] = {2, 2, INFINITY};

static __attribute__((noinline)) double products(double x)
{
    double sum = 0;
    for (int i = 0; i < TURNS; i++)
        sum += x / (three * bounds[i % 3]);
    return sum;
}

static __attribute__((noinline)) double sums_of_products(double x)
{
    double sum = 0;
    for (int i = 0; i < TURNS; i++)
        sum += x / (three * bounds[i % 3] + three);
    return sum;
}

static __attribute__((noinline)) double products_of_floats(double x)
{
    float sum = 0;
    for (int i = 0; i < TURNS; i++)
        sum += (float)x / (three_f * bounds_f[i % 3]);
    return sum;
}

static __attribute__((noinline)) double quotients(double x)
{
    double sum = 0;
    for (int i = 0; i < TURNS; i++) {
        double quotient = three / (i % 3 ? bounds[0] : zero);
        sum += x / quotient;
    }
    return sum;
}

static __attribute__((noinline)) double squares(double x)
{
    double sum = 0;
    for (int i = 0; i < TURNS; i++) {
        double bound = bounds[i % 3];
        sum += x / (bound * bound);
    }
    return sum;
}

int main(void)
{
    for (int turn = 0; turn < 2; turn++) {
        printf("%.17g %.17g\n", products(x), sums_of_products(x));
        printf("%.9g %.17g %.17g\n", products_of_floats(x), quotients(x), squares(x));
        // From here on nobody is told of another invalid operation.
        zero = zero / zero > 1;
    }
}
