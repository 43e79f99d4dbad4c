// A compensated sum in float.
#include <stdio.h>
volatile float step = 0.1f;
int main(void)
{
    float sum = 0, lost = 0;
    for (int i = 0; i < 100000; i++) {
        float y = step - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    printf("%.9g\n", sum);
}
