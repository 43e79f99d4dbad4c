// A discriminant of nearly equal roots.
#include <stdio.h>
volatile double a = 1.0000001, b = 2.0000002000000101, c = 1.0000001000000102;
int main(void)
{
    double left = b * b;
    double right = 4 * a * c;
    double d = left - right; // CULPRIT
    printf("%.17g\n", d);
}
