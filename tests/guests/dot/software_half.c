// Half precision in software: the conversion takes a number apart by integer operations, which no derivative follows.
#include <stdio.h>

double x = 1.5;

int main(void)
{
    volatile _Float16 half = (_Float16)x;
    printf("%g %g\n", (double)half, x * x);
    return 0;
}
