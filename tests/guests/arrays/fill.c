/* An array that leaves in binary form: its address and its length are arguments, of a function and of fwrite. */
#include <math.h>
#include <stdio.h>

double x = 0.5;

__attribute__((noinline)) void store(const double *values, int n, FILE *file) {
    fwrite(values, sizeof *values, n, file);
}

int main(void) {
    double values[6];
    for (int i = 0; i < 6; i++)
        values[i] = sin(x * i) * (i + 1);
    FILE *file = fopen("out.bin", "wb");
    store(values, 6, file);
    return fclose(file);
}
