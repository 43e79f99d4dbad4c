// Floats printed to three streams, by lines that can be told apart.
#include <stdio.h>

double x = 2;

int main(void)
{
    double y = x * x;
    for (int step = 1; step <= 2; step++)
        printf("step %d energy = %.3f volume: %g\n", step, (step + 2) * x, y * step);
    fprintf(stderr, "# done after 2 steps\n%e\n", 7 * x);
    FILE *file = fopen("out.dat", "w");
    fprintf(file, "a b\n%g %g\n%g\n", x, 11 * x, 13 * x);
    fclose(file);
    printf("%.6f\n", 17 * x);
}
