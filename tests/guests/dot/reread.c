// Text of floats with derivatives that the program reads by code of its own; a number beside it is written, and one that has
// no derivative is not.
#include <stdio.h>

double x = 1.4;

/// The number of a text without a sign or an exponent.
static double number(const char *text)
{
    long digits = 0, unit = 1;
    for (; *text && *text != '.'; text++) digits = 10 * digits + (*text - '0');
    for (text += *text == '.'; *text; text++, unit *= 10) digits = 10 * digits + (*text - '0');
    return (double)digits / (double)unit;
}

int main(void)
{
    char text[40], other[40];
    snprintf(text, sizeof text, "%.6f", x * x); // UNWRITTEN
    snprintf(other, sizeof other, "%.6f", 0.123456);
    printf("%.6f %.6f\n", number(text) + number(other), 3 * x);
    return 0;
}
