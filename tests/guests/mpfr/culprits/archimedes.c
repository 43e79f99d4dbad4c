// Archimedes' polygons by the formula that cancels.
#include <math.h>
#include <stdio.h>
volatile double start = 0.57735026918962576;
int main(void)
{
    double t = start, sides = 6;
    for (int i = 0; i < 22; i++) {
        double root = sqrt(t * t + 1); // CULPRIT
        double top = root - 1; // CULPRIT
        t = top / t;
        sides *= 2;
    }
    printf("%.17g\n", sides * t);
}
// REMEDY 1.5
