// A long double that has lost as many digits as make it a double: as a long double it is wrong.
#include <stdio.h>
volatile long double one = 1, three = 3, large = 1024 * 1.25L;
int main(void)
{
    long double third = one / three;
    long double sum = third + large; // CULPRIT
    long double left = sum - large; // CULPRIT
    printf("%.20Lg %d\n", left, (double)left == left);
}
