// A conversion to float in the middle of double arithmetic.
#include <stdio.h>
volatile double x = 16777217.25;
int main(void)
{
    float narrow = (float)x; // CULPRIT
    double back = narrow;
    double rest = back - 16777216.0; // CULPRIT
    printf("%.17g\n", rest);
}
