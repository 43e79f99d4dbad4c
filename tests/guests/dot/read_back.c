// Numbers that have all their digits in a text have their derivatives when they are read again, as a string or from a file, be they few if
// the string is where the text was put; one that is rounded has none.
#include <stdio.h>
#include <stdlib.h>

double x = 1.7;

int main(void)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", x * x / 3);
    printf("%.17g\n", 2 * strtod(text, NULL));
    FILE *file = tmpfile();
    fprintf(file, "%.16e %d\n", 1 / x, 12);
    rewind(file);
    double again;
    if (fscanf(file, "%lf", &again) != 1) return 1;
    printf("%.17g\n", again * again);
    const double half = x - 1.2;
    snprintf(text, sizeof text, "%g", half);
    printf("%.17g\n", strtod(text, NULL) + 1);
    snprintf(text, sizeof text, "%a", x);
    printf("%.17g\n", strtod(text, NULL) * 3);
    char *rest;
    snprintf(text, sizeof text, "half %.17g %.17g", half, 5 * half);
    const double first = strtod(text + sizeof "half", &rest);
    printf("%.17g\n", first + 2 * strtod(rest, NULL));
}
