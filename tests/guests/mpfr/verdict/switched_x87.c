// Conversions to integers by the rounding mode of x87, which the program switches before each.
// FAILS decision
#include <stdio.h>
volatile double part = 0.7;
int main(void)
{
    long total = 0;
    const unsigned short nearest = 0x37f, down = 0x77f;
    for (int i = 1; i <= 100; i++) {
        double sum = 0;
        for (int k = 0; k < 5; k++)
            sum += part;
        double twice = 2 * sum;
        long n;
        __asm__ volatile("fldl %1; fistpq %0" : "=m"(n) : "m"(sum) : "st"); // DECIDES 100 of 100
        total += n;
        __asm__ volatile("fldcw %0" : : "m"(down));
        __asm__ volatile("fldl %1; fistpq %0" : "=m"(n) : "m"(twice) : "st"); // DECIDES 100 of 100
        total += n;
        __asm__ volatile("fldcw %0" : : "m"(nearest));
    }
    printf("%ld %g\n", total, 0.5);
}
