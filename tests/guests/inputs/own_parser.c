// A program that makes numbers of the digits of a file by itself.
#include <stdio.h>

static double number(FILE *file)
{
    double value = 0, unit = 1;
    int digit, behind_point = 0;
    while ((digit = fgetc(file)) == '.' || (digit >= '0' && digit <= '9')) {
        if (digit == '.') {
            behind_point = 1;
            continue;
        }
        value = 10 * value + (digit - '0');
        unit = behind_point ? unit / 10 : unit;
    }
    return value * unit;
}

int main(void)
{
    FILE *file = fopen("in.dat", "r");
    if (file == NULL)
        return 1;
    double first = number(file);
    printf("%g\n", first * number(file));
    return fclose(file);
}
