// The roots of a quadratic by the formula everybody learns.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void solve(double a, double b, double c)
{
    double root = sqrt(b * b - 4 * a * c);
    double first = (-b + root) / (2 * a);
    double second = (-b - root) / (2 * a);
    printf("%.17g\n%.17g\n", first, second);
}

int main(int argc, char **argv)
{
    if (argc != 4) return 1;
    solve(atof(argv[1]), atof(argv[2]), atof(argv[3]));
}
