// Switches as jump tables, as trees of comparisons, nested, with fall-through and with gaps.
#include "guest.h"

__attribute__((noinline)) static int dense(unsigned op, int x)
{
    switch (op) {
    case 0: return x + 1;
    case 1: return x - 7;
    case 2: return x * 3;
    case 3: return x ^ 0x55;
    case 4: return x << 2;
    case 5: return -x;
    case 6: return x >> 1;
    case 7: x += 2; /* fall through */
    case 8: return x | 1;
    case 9: return x & 0xffff;
    default: return 0;
    }
}

__attribute__((noinline)) static int sparse(int x)
{
    switch (x) {
    case -1000000: return 1;
    case -5: return 2;
    case 3: return 3;
    case 77: return 4;
    case 4096: return 5;
    case 1 << 30: return 6;
    }
    return 0;
}

int main(void)
{
    uint64_t state = 1;
    uint64_t hash = HASH_START;
    int x = 1;
    for (int i = 0; i < 100000; i++) {
        x = dense((unsigned)(next_random(&state) >> 20) % 11, x);
        hash = hash_bytes(hash, &x, sizeof x);
    }
    static const int keys[] = {-1000000, -5, 3, 77, 4096, 1 << 30, 0, 4};
    for (int i = 0; i < 8; i++) printf("%d ", sparse(keys[i]));
    printf("%016lx\n", hash);
    return 0;
}
