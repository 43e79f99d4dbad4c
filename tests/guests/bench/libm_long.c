// Functions of long doubles, one per run, and conversions on the x87 stack: each has an active operand.
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double shift = 0;

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "sin";
    long rounds = argc > 2 ? atol(argv[2]) : 1000;
    long double x = 0.75L + shift, y = x;
    if (!strcmp(kind, "sin"))
        for (long i = 0; i < rounds; i++) y = sinl(y) + x;
    else if (!strcmp(kind, "exp"))
        for (long i = 0; i < rounds; i++) y = expl(-y) * x;
    else if (!strcmp(kind, "log"))
        for (long i = 0; i < rounds; i++) y = logl(y + 1) + x;
    else if (!strcmp(kind, "pow"))
        for (long i = 0; i < rounds; i++) y = powl(y, 0.5L) + x;
    else if (!strcmp(kind, "sincos"))
        for (long i = 0; i < rounds; i++) {
            long double sine, cosine;
            sincosl(y, &sine, &cosine);
            y = sine * cosine + x;
        }
    else
        for (long i = 0; i < rounds; i++) {
            int n, three = 3;
            __asm__ volatile("fistl %1; fimull %2" : "+t"(y), "=m"(n) : "m"(three));
            y = y * 0.125L + x;
        }
    printf("%.20Lg\n", y);
    return 0;
}
