// An error that no operation has two per cent of is one finding, which says how it is amplified.
#include <stdio.h>

#define EIGHT(x) x x x x x x x x

int main(void) {
    volatile double tenth = 0.1, half = 512;
    double sum = 1024;
    EIGHT(EIGHT(sum += tenth;)) EIGHT(EIGHT(sum += tenth;))
    sum -= half, half /= 2;
    sum -= half, half /= 2;
    sum -= half, half /= 2;
    sum -= half, half /= 2;
    sum -= half, half /= 2;
    sum -= half, half /= 2;
    sum -= half, half /= 2;
    printf("%.17g\n", sum);
    return 0;
}
