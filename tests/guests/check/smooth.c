// Sums and products of functions of x that are smooth everywhere: derivatives and differences agree.
#include <math.h>
#include <stdio.h>

double x = 1.3;
double y[3] = {0.5, -2, 0};

int main(void)
{
    double sum = 0;
    for (int i = 0; i < 50; i++) sum += sin(x * i) / (1 + i) + x * y[i % 3];
    printf("%.17g %.17g\n", sum, exp(-x * x) + sqrt(sum * sum + 1));
    return 0;
}
