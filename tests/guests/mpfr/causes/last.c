// Roots of neighbours are subtracted 20,000 times: a loop that runs on long after its causes were found.
#include <math.h>
#include <stdio.h>
volatile double step = 1e6, last;
int main(void)
{
    for (int i = 1; i <= 20000; i++) {
        double x = i * step;
        last = sqrt(x + 1) - sqrt(x); // CULPRIT
    }
    printf("%.17g\n", last);
}
