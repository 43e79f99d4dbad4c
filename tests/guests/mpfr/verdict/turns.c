// A loop turns once more than it would in the reals, and every number that is printed is right.
// FAILS decision
#include <stdio.h>
volatile double step = 0.1;
int main(void)
{
    int turns = 0;
    for (double t = 0; t < 1;) { // DECIDES
        turns++;
        t += step;
    }
    printf("%d %g\n", turns, 0.5);
}
