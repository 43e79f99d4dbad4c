// Numbers whose signs the program reads apart, as programs with notations of their own do: where the number stands, in a copy
// with the sign before it, and in one without.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double number(const char *text)
{
    double sign = *text == '-' ? -1 : 1;
    return sign * atof(text + (*text == '-' || *text == '+'));
}

static double copied(const char *text)
{
    char digits[32];
    strcpy(digits, text + (*text == '-'));
    double value = strtod(digits, NULL);
    return *text == '-' ? -value : value;
}

int main(int argc, char **argv)
{
    double a = number(argv[argc - 2]), w = copied(getenv("SG_W")), sum = a * a;
    char line[100];
    FILE *file = fopen(argv[argc - 1], "r");
    if (!fgets(line, sizeof line, stdin)) return 1;
    double s = number(strtok(line, " \n")), t = copied(strtok(NULL, " \n"));
    sum += w * s * t;
    if (!fgets(line, sizeof line, file) || !fgets(line, sizeof line, file)) return 1;
    for (int i = 1; fgets(line, sizeof line, file); i++) {
        double p = copied(strtok(line, " \n")), q = number(strtok(NULL, " \n"));
        sum += i * p * p * q;
    }
    printf("%.17g\n", sum);
}
