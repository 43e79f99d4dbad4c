// A literal that is the rounded result of an operation which had a large error elsewhere: nobody has lost it.
#include <math.h>
#include <stdio.h>

volatile double two = 2, five = 5, quarter = 0.25, sink;

static __attribute__((noinline)) double quotient(double a, double b)
{
    return a / b;
}

int main(void)
{
    const double root = sqrt(two);
    sink = quotient(root * root - two, five);
    sink = quotient(quarter, five);
    printf("%g\n", 0.05);
}
