// A harmonic series summed from its large end, in float.
#include <stdio.h>
int main(void)
{
    float sum = 0;
    for (int i = 1; i <= 200000; i++) {
        float term = 1.0f / (float)i;
        sum += term; // CULPRIT
    }
    printf("%.9g\n", sum);
}
