/* Text that a program makes of numbers for itself, beside what it writes: of 100 constants and of one that comes of x. */
#include <stdio.h>

double x = 2.5;
static char text[64];

int main(void)
{
    unsigned long sum = 0;
    for (int i = 0; i < 100; i++) sum += (unsigned long)snprintf(text, sizeof text, "%g", i + 0.125);
    snprintf(text, sizeof text, "%.3f", 3 * x);
    snprintf(text, sizeof text, "%.2f", 1e6 / 7);
    printf("%lu a%g %.2f %s\n", sum, 1.75, x * x, text);
    return 0;
}
