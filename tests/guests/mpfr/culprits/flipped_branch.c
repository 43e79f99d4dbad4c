// Ten times a tenth is below 1 in floats only: the comparison goes the other way, because of the sum.
#include <stdio.h>
volatile double tenth = 0.1;
int main(void)
{
    double sum = 0;
    for (int i = 0; i < 10; i++)
        sum += tenth; // CULPRIT
    if (sum < 1.0) // CULPRIT branch
        puts("below");
    else
        puts("not below");
}
