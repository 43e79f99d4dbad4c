// Ten times a tenth is below 1 in floats and above it in the reals: 0.015 of that is rounded, by way of its text, to 0.01 or to 0.02.
#include <stdio.h>
#include <stdlib.h>

volatile double tenth = 0.1;

int main(void)
{
    double sum = 0;
    for (int i = 0; i < 10; i++) sum += tenth;
    char text[40];
    snprintf(text, sizeof text, "%.2f", sum * 0.015);
    printf("%g\n", strtod(text, NULL) * 1.5);
}
