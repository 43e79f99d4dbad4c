// Conversions to integers by the rounding modes of MXCSR and of x87, which the program switches before each.
// FAILS decision
#include <stdio.h>
volatile double part = 0.7;
int main(void)
{
    long total = 0;
    const unsigned nearest = 0x1f80, down = 0x3f80;
    const unsigned short x87_nearest = 0x37f, x87_down = 0x77f;
    for (int i = 1; i <= 100; i++) {
        double sum = 0;
        for (int k = 0; k < 5; k++)
            sum += part;
        double twice = 2 * sum;
        long n;
        __asm__ volatile("cvtsd2si %1, %0" : "=r"(n) : "x"(sum)); // DECIDES 100 of 100
        total += n;
        __asm__ volatile("ldmxcsr %0" : : "m"(down));
        __asm__ volatile("cvtsd2si %1, %0" : "=r"(n) : "x"(twice)); // DECIDES 100 of 100
        total += n;
        __asm__ volatile("ldmxcsr %0" : : "m"(nearest));
        __asm__ volatile("fldl %1; fistpq %0" : "=m"(n) : "m"(sum) : "st"); // DECIDES 100 of 100
        total += n;
        __asm__ volatile("fldcw %0" : : "m"(x87_down));
        __asm__ volatile("fldl %1; fistpq %0" : "=m"(n) : "m"(twice) : "st"); // DECIDES 100 of 100
        total += n;
        __asm__ volatile("fldcw %0" : : "m"(x87_nearest));
    }
    printf("%ld %g\n", total, 0.5);
}
