// Kahan's area of a needle.
#include <math.h>
#include <stdio.h>
volatile double sides[3] = {3, 2, 1.0000000000001};
int main(void)
{
    double a = sides[0], b = sides[1], c = sides[2];
    printf("%.17g\n", sqrt((a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c))) / 4);
}
