// A naive sum in float: many small roundings of one line.
#include <stdio.h>
volatile float step = 0.1f;
int main(void)
{
    float sum = 0;
    for (int i = 0; i < 1000000; i++)
        sum += step; // CULPRIT
    printf("%.9g\n", sum);
}
