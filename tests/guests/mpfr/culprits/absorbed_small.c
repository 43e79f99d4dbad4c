// A large sum, to which small ones are added one by one and vanish.
#include <stdio.h>
volatile double large = 1e16, small = 1;
int main(void)
{
    double sum = large;
    for (int i = 0; i < 1000; i++)
        sum += small; // CULPRIT
    double rest = sum - large;
    printf("%.17g\n", rest);
}
