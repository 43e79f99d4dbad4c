// Floats with derivatives made into text by the functions that are no printf, and parsed again: two with all their digits.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

double x = 2.7;

static double parsed(const char *digits, int point)
{
    char text[64];
    snprintf(text, sizeof text, "0.%se%d", digits, point);
    return strtod(text, NULL);
}

int main(void)
{
    double y = x * x / 7;
    char text[64];
    int point, sign;

    double sum = parsed(ecvt(y, 17, &point, &sign), point);
    sum += parsed(fcvt(y, 12, &point, &sign), point);
    sum += parsed(qecvt(y, 15, &point, &sign), point);
    sum += strtod(gcvt(y, 9, text), NULL);
    sum += strtod(qgcvt(y, 17, text), NULL);
    strfromf(text, sizeof text, "%.8g", y);
    sum += strtod(text, NULL);
    strfroml(text, sizeof text, "%.17g", y);
    sum += strtod(text, NULL);
    printf("%.17g\n", sum);
}
