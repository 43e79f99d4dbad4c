// A dot product of nearly orthogonal vectors.
#include <stdio.h>
volatile double u[3] = {1e10, 1.1, -1e10}, v[3] = {1.1, 1e-3, 1.1000000000000001};
int main(void)
{
    double dot = 0;
    for (int i = 0; i < 3; i++)
        dot += u[i] * v[i]; // CULPRIT
    printf("%.17g\n", dot);
}
// REMEDY 1.5
