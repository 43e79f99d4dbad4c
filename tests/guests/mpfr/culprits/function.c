// The cause is in a function, the symptom in its caller.
#include <math.h>
#include <stdio.h>
volatile double x = 3e15;
static __attribute__((noinline)) double gap(double value)
{
    double above = value + 0.3; // CULPRIT
    return above - value; // CULPRIT
}
int main(void)
{
    double g = gap(x);
    printf("%.17g\n", sqrt(g));
}
// REMEDY 1.5
