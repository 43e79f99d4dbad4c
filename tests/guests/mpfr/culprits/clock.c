// The Patriot's clock: tenths of a second counted in float.
#include <stdio.h>
volatile float tick = 0.1f;
int main(void)
{
    float seconds = 0;
    for (int i = 0; i < 360000; i++)
        seconds = seconds + tick; // CULPRIT
    printf("%.9g\n", seconds);
}
