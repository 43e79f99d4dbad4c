// A loop over floats of four bytes: differences have few digits, and still agree.
#include <stdio.h>

float x = 0.75f;

int main(void)
{
    float sum = 1;
    for (int i = 1; i < 12; i++) sum = sum * x + 1.0f / (float)i;
    printf("%.9g\n", sum);
    return 0;
}
