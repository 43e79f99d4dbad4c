// __float128 and __int128: the compiler's own run-time library, in software.
//@ cc: gcc
#include "guest.h"

int main(void)
{
    volatile __float128 x = 1, three = 3;
    __float128 sum = 0;
    for (int i = 1; i < 500; i++) sum += x / (i * three);
    volatile unsigned __int128 wide = (unsigned __int128)0xfedcba9876543210 << 64 | 0x0123456789abcdef;
    unsigned __int128 quotient = wide / 1000000007, product = wide * wide;
    printf("%016lx\n", hash_bytes(HASH_START, &sum, 16));
    printf("%016lx%016lx %016lx %d\n", (uint64_t)(quotient >> 64), (uint64_t)quotient, (uint64_t)(product >> 64), (double)sum > 2);
    return 0;
}
