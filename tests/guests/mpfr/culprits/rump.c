// Rump's expression: 37 digits cancel.
#include <stdio.h>
volatile double a = 77617, b = 33096;
int main(void)
{
    double b2 = b * b, a2 = a * a, b4 = b2 * b2, b6 = b4 * b2, b8 = b4 * b4;
    double middle = a2 * (11 * a2 * b2 - b6 - 121 * b4 - 2);
    double high = 333.75 * b6 + middle; // CULPRIT
    double low = 5.5 * b8;
    double sum = high + low; // CULPRIT
    double result = sum + a / (2 * b);
    printf("%.17g\n", result);
}
