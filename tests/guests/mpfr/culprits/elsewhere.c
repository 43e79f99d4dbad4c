// A fraction made of a double's upper word, which other functions change: nothing there says that the word is one.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BELOW 0x95f62 /* from the upper word of sqrt(1/2) to that of 1 */

volatile double large = 3e6, small = 1.87;

static __attribute__((noinline, noipa)) uint32_t summed(uint32_t word) { return word + BELOW; }
static __attribute__((noinline, noipa)) uint32_t cut(uint32_t word) { return word & 0xfffff; }
static __attribute__((noinline, noipa)) uint32_t given(uint32_t word) { return word + 0x3ff00000 - BELOW; }

static __attribute__((noinline)) double fraction(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (uint64_t)given(cut(summed(bits >> 32))) << 32 | (uint32_t)bits;
    memcpy(&x, &bits, sizeof x);
    return x;
}

int main(void)
{
    for (int n = 1; n <= 3; n++) {
        double x = n * large + small, difference = x - n * large; // CULPRIT
        printf("%.17g\n", difference); // CULPRIT
        printf("%.17g\n", fraction(difference));
    }
}
