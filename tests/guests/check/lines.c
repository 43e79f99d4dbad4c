// Far from the point the program prints another number of lines: that says nothing of what no short step moves.
#include <stdio.h>

double x = 1;

int main(void)
{
    printf("%g\n", 0.25);
    int lines = (int)(4 * x + 0.5);
    for (int i = 0; i < lines; i++) printf("%.17g\n", x * (i + 0.5));
    return 0;
}
