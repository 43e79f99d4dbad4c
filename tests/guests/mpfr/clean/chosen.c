// Numbers with the same exponent, chosen and exchanged by masks, which compilers do by exclusive disjunctions: each keeps its real.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

volatile double tenth = 0.1;

static __attribute__((noinline)) void choose(double *pair, int second)
{
    uint64_t bits[2], mask = UINT64_C(0) - (uint64_t)(second != 0);
    memcpy(bits, pair, sizeof bits);
    __asm__("" : "+r"(mask));
    const uint64_t others = (bits[0] ^ bits[1]) & mask;
    bits[0] ^= others;
    bits[1] ^= others;
    memcpy(pair, bits, sizeof bits);
}

int main(void)
{
    for (int n = 0; n < 100; n++) {
        double pair[2] = { -4.5 * tenth, 2.5 * tenth };
        choose(pair, n % 2);
        printf("%.15g %.15g\n", pair[0], pair[1]);
    }
    return 0;
}
