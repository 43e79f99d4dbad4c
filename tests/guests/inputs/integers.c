// Numbers that are read as integers by atoi, strtol and scanf, and after them the same texts as floats.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int a = atoi(argv[1]), n, m;
    char line[100];
    if (!fgets(line, sizeof line, stdin)) return 1;
    long s = strtol(line, NULL, 10);
    FILE *file = fopen(argv[2], "r");
    double p, q;
    if (fscanf(file, "%d %d %lf %lf", &n, &m, &p, &q) != 4) return 1;
    printf("%.17g\n", a * p + n * m * q * q + s);
}
