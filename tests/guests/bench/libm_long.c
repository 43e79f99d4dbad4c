// Functions of long doubles, one per run: each call has an active operand.
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
    else
        for (long i = 0; i < rounds; i++) y = powl(y, 0.5L) + x;
    printf("%.20Lg\n", y);
    return 0;
}
