// The largest integer below a value that is one: the derivative is that of a constant, and the value jumps.
#include <math.h>
#include <stdio.h>

double x = 1.5;

int main(void)
{
    double twice = 2 * x;
    double whole = floor(twice); // PARTS
    printf("%.17g\n", whole + x);
    return 0;
}
