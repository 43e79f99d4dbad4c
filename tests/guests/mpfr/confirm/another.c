// A program that does not do the same each time: how often it has run stands in a file, and it prints that.
#include <math.h>
#include <stdio.h>
volatile double x = 1e15;
int main(void)
{
    FILE *file = fopen("runs", "a+");
    fputs("x", file);
    long runs = ftell(file);
    fclose(file);
    double lost = sqrt(x + runs) - sqrt(x); // CULPRIT
    printf("%ld %.17g\n", runs, lost);
}
