// A product with a number that is another in each run: no difference tells anything of its derivative.
#include <stdio.h>
#include <unistd.h>

double x = 2;

int main(void)
{
    printf("%.17g\n", x * (1 + getpid() % 1000 * 1e-3));
    return 0;
}
