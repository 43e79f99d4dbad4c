// A conversion cuts a whole number off that the reals have.
// FAILS decision
#include <stdio.h>
volatile double tenth = 0.1;
int main(void)
{
    double sum = 0;
    for (int i = 0; i < 10; i++)
        sum += tenth;
    for (int i = 1; i < 4; i++) {
        int whole = (int)(sum * i); // DECIDES 3 of 3
        printf("%d %g\n", whole, 0.5);
    }
}
