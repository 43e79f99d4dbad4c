// Muller's recurrence, which tends to 6 in the reals and to 100 in floats.
#include <stdio.h>
volatile double first = 4, second = 4.25;
int main(void)
{
    double a = first, b = second;
    for (int i = 0; i < 20; i++) {
        double quotient = 1500 / a;
        double inner = 815 - quotient;
        double next = 108 - inner / b; // CULPRIT
        a = b;
        b = next;
    }
    printf("%.17g\n", b);
}
