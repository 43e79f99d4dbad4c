// sqrt(x + 1) − sqrt(x) in long double: errors are counted in ulps of the 80-bit type.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long double x = argc > 1 ? strtold(argv[1], NULL) : 1;
    printf("%.21Lg\n", sqrtl(x + 1) - sqrtl(x)); // PRINTED
}
