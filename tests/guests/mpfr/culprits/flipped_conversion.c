// Ten times a tenth is above 1 in the reals, below in floats: the conversion cuts to 0.
#include <stdio.h>
volatile double tenth = 0.1;
int main(void)
{
    double sum = 0;
    for (int i = 0; i < 10; i++)
        sum += tenth; // CULPRIT
    int whole = (int)sum; // CULPRIT conversion
    printf("%d\n", whole);
}
