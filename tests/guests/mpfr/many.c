// Calls at 256 places, each 600 times, of a function whose errors take the engine each time: more than are looked at for causes.
#include <math.h>
#include <stdio.h>

#define FOUR(x) x x x x
#define EIGHT(x) FOUR(x) FOUR(x)

int main(void)
{
    volatile double tenth = 0.1;
    double sum = 0;
    for (int n = 0; n < 600; n++) {
        FOUR(EIGHT(EIGHT(sum += j0(tenth);)))
    }
    printf("%.17g\n", sum);
}
