// A choice between two slopes just where they meet: the derivative is that of one way, the difference that of both.
#include <stdio.h>

double x = 1;

int main(void)
{
    double y = x * x;
    if (y > 1) // PARTS
        y = 3 * y - 2;
    printf("%.17g\n", y);
    return 0;
}
