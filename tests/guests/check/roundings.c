// Outputs that are nothing but roundings, beside one that is not: there is no slope in them, and no difference tells otherwise.
#include <math.h>
#include <stdio.h>

volatile double x = 1.1;

int main(void)
{
    double a = x * 0.3, up = 0, down = 0;
    for (int i = 1; i < 100; i++) up += sin(i * a) / i;
    for (int i = 99; i > 0; i--) down += sin(i * a) / i;
    printf("%g %g %g\n", sin(a) * sin(a) + cos(a) * cos(a) - 1, up - down, up);
    return 0;
}
