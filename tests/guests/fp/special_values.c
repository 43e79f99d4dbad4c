// Infinities, NaN payloads, signed zeroes and subnormals through every operation, bit for bit.
//@ libs: -lm
#include "guest.h"
#include <math.h>

static uint64_t bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, 8);
    return b;
}

int main(void)
{
    static const uint64_t patterns[] = {0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff8000000000000,
                                        0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001, 0xfff8000000abcdef,
                                        0x7ff0000000000123, 0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000,
                                        0x7fefffffffffffff, 0x4340000000000001, 0x3ca0000000000000, 0x4059000000000000};
    const int count = sizeof patterns / sizeof *patterns;
    uint64_t hash[8];
    for (int i = 0; i < 8; i++) hash[i] = HASH_START;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            volatile double x, y;
            memcpy((void *)&x, &patterns[i], 8);
            memcpy((void *)&y, &patterns[k], 8);
            double results[8] = {x + y, x - y, x * y, x / y, sqrt(x), fmin(x, y), (double)((float)x), fma(x, y, x)};
            for (int r = 0; r < 8; r++) {
                uint64_t b = bits(results[r]);
                hash[r] = hash_bytes(hash[r], &b, 8);
            }
        }
    for (int i = 0; i < 8; i++) printf("%016lx\n", hash[i]);
    volatile double nan1 = NAN;
    printf("%d %d %d %g %g\n", nan1 == nan1, nan1 < 1, !(nan1 >= 1), nan1, -nan1);
    return 0;
}
