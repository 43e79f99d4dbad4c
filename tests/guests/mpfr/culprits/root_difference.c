// sqrt(x + 1) − sqrt(x) at large x.
#include <math.h>
#include <stdio.h>
volatile double x = 1e12;
int main(void)
{
    double a = sqrt(x + 1), b = sqrt(x);
    double difference = a - b; // CULPRIT
    printf("%.17g\n", difference);
}
// REMEDY 1.5
