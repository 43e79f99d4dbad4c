// Numbers from an argument, a variable, standard input and a file, by atof, strtod in a line, and scanf.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    double a = atof(argv[argc - 2]), w = strtod(getenv("SG_W"), NULL), s, t;
    char line[100];
    FILE *file = fopen(argv[argc - 1], "r");
    int rows;
    if (!fgets(line, sizeof line, stdin)) return 1;
    char *rest;
    s = strtod(line, &rest);
    t = strtod(rest, NULL);
    double sum = a * a + w * s * t;
    if (!fgets(line, sizeof line, file) || fscanf(file, "%d", &rows) != 1) return 1;
    for (int i = 0; i < rows; i++) {
        double p;
        float q;
        if (fscanf(file, "%lf %f", &p, &q) != 2) return 1;
        sum += (i + 1) * p * p * q;
    }
    printf("%.17g\n", sum);
}
