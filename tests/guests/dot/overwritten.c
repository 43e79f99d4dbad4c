// The program sets its input before it reads it, as from its arguments: what was seeded at the start is gone by then.
#include <stdio.h>

double x = 1;

int main(int argc, char **argv)
{
    (void)argv;
    *(volatile double *)&x = 2 + argc;
    printf("%g\n", x * x);
    return 0;
}
