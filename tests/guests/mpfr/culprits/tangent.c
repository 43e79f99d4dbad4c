// The argument of a tangent beside its pole.
#include <math.h>
#include <stdio.h>
volatile double x = 1e-10, y = 1.5707963267948966;
int main(void)
{
    double angle = y - x; // CULPRIT
    double t = tan(angle); // CULPRIT
    printf("%.17g\n", t);
}
