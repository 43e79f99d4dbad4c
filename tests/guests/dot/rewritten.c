// Numbers written as text and parsed again: as a string, by two functions, and through a file.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

double x = 1.4;

int main(void)
{
    char text[40];
    snprintf(text, sizeof text, "%.8f", x * x);
    double again = atof(text);
    strfromd(text, sizeof text, "%.9g", x / 3);
    again += atof(text);
    FILE *file = tmpfile();
    fprintf(file, "%.6e %d %.6f\n", 3 * x, 123, 0.123456);
    rewind(file);
    double first, third;
    int second;
    if (fscanf(file, "%lf %d %lf", &first, &second, &third) != 3) return 1;
    printf("%.9g\n%.9g\n%.9g\n", again, first + second, third + x);
    return 0;
}
