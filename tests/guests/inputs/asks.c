// Numbers of standard input whose values are the lines that ask for them, and one that the program itself has, which is no number of
// standard input though its value is that of one.
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    double a, d;
    float b;
    char line[100];
    if (scanf("%lf", &a) != 1) return 1; /* 11.5 */
    if (fscanf(stdin, "%f\n", &b) != 1) return 1; /* 12.5 */
    if (!fgets(line, sizeof line, stdin)) return 1;
    double c = atof(line); /* 14.5 */
    if (!fgets(line, sizeof line, stdin)) return 1;
    if (sscanf(line, "%lf", &d) != 1) return 1; /* 16.5 */
    double own = atof("14.5");
    printf("%.17g\n", a * b + c * d + own);
}
