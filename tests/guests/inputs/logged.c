// Numbers that are formatted once and written twice, to standard output and to a log, behind an echo of what was asked for.
#include <stdio.h>

double x = 2;

int main(void)
{
    char line[64];
    FILE *log = fopen("log.dat", "w");
    if (log == NULL)
        return 1;
    fputs("asked for 4\n", log);
    snprintf(line, sizeof line, "energy %g of %g\n", x * x, x * x * x);
    fputs(line, stdout);
    fputs(line, log);
    return fclose(log);
}
