// The area of a needle by Heron's formula.
#include <math.h>
#include <stdio.h>
volatile double a = 3, b = 2, c = 1.0000000000001;
int main(void)
{
    double s = (a + b + c) / 2; // CULPRIT
    double area = sqrt(s * (s - a) * (s - b) * (s - c)); // CULPRIT
    printf("%.17g\n", area);
}
// REMEDY 1.5
