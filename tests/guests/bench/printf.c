// Formats a float many times, in memory.
#include <stdio.h>
#include <stdlib.h>

double shift = 0;

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000, sum = 0;
    double x = 0.75 + shift;
    char text[64];
    for (long i = 0; i < rounds; i++) {
        sum += snprintf(text, sizeof text, "%.17g", x);
        x = x * 0.999 + 1.25e-3;
    }
    printf("%ld\n", sum);
    return 0;
}
