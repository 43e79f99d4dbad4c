// The variance by Welford's update.
#include <stdio.h>
volatile double offset = 100;
int main(void)
{
    double mean = 0, m2 = 0;
    for (int i = 0; i < 100; i++) {
        double x = offset + i * 0.25, delta = x - mean;
        mean += delta / (i + 1);
        m2 += delta * (x - mean);
    }
    printf("%.17g\n", m2 / 99);
}
