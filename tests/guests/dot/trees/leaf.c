// The program that names are about, whoever executes it.
#include <stdio.h>

double x = 3;

int main(void)
{
    printf("%g\n", x * x);
    return 5;
}
