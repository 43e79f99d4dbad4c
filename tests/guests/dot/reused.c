// Text that is written, letter by letter and piece by piece, into a buffer in memory where floats with derivatives were: nothing of
// them is lost, since nobody will use them again.
#include <stdio.h>
#include <stdlib.h>

double x = 0.7;

int main(void) {
    enum { COUNT = 512, WORDS = 200 };
    double *floats = malloc(COUNT * sizeof *floats);
    for (int i = 0; i < COUNT; i++) floats[i] = x * (i + 1);
    double sum = 0;
    for (int i = 0; i < COUNT; i++) sum += floats[i];
    // What would be left out otherwise, since it is never read.
    __asm__ volatile("" : : "r"(floats) : "memory");
    free(floats);
    FILE *file = fopen("out.txt", "w");
    if (!file) return 1;
    for (int i = 0; i < WORDS; i++) {
        fputc('a' + i % 26, file);
        fprintf(file, "%d:", i);
        fputc(i % 10 == 9 ? '\n' : ' ', file);
    }
    fclose(file);
    printf("%.17g\n", sum);
    return 0;
}
