// A compensated sum.
#include <stdio.h>
volatile double step = 0.1;
int main(void)
{
    double sum = 0, lost = 0;
    for (int i = 0; i < 100000; i++) {
        double y = step - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    printf("%.17g\n", sum);
}
