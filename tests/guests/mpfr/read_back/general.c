// Zeros at the end of a text are not written: in four digits the reals have 1, and the floats 0.9999.
#include <stdio.h>
#include <stdlib.h>

volatile double tenth = 0.1;

int main(void)
{
    double sum = 0;
    for (int i = 0; i < 10; i++) sum += tenth;
    char text[40];
    snprintf(text, sizeof text, "%.4g", sum - 0.00005);
    printf("%g\n", (strtod(text, NULL) - 0.9998) * 150);
}
