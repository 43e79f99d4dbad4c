// A loop of sin, exp, pow and log through the PLT, added up in a thread-local variable.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double shift = 0;
static __thread double total;

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 100000;
    for (long i = 1; i <= rounds; i++) {
        double x = (double)i * 1e-4 + shift;
        total += sin(x) + exp(-x * 1e-3) + pow(x + 1, 0.3) + log(x + 2);
    }
    printf("%.17g\n", total);
    return 0;
}
