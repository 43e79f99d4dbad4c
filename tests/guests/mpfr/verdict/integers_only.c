// Integers alone are computed with, and a constant is printed: nothing is known to be right.
#include <stdio.h>
volatile long count = 7;
int main(void)
{
    long sum = 0;
    for (long i = 0; i < count; i++)
        sum += i;
    printf("%g %ld\n", 0.1, sum);
}
