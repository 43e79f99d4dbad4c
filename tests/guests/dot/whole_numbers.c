/* A number rounded to five digits, as programs round what they read; with an argument, the number itself as well. */
#include <math.h>
#include <stdio.h>

double x = 1.7;

int main(int argc, char **argv)
{
    (void)argv;
    double whole;
    modf(x * 1e5 + 0.5, &whole);
    printf("%g\n", whole * 1e-5);
    if (argc > 1) printf("%g\n", x);
    return 0;
}
