// Locked instructions of every kind, alone; cmpxchg8b and cmpxchg16b with success and failure.
//@ flags: -mcx16
//@ needs: cx16
#include "guest.h"

static _Alignas(16) uint64_t cell[2];

static int compare_exchange_16(uint64_t low, uint64_t high, uint64_t new_low, uint64_t new_high)
{
    unsigned char equal;
    __asm__ volatile("lock cmpxchg16b %1\n sete %0" : "=q"(equal), "+m"(cell), "+a"(low), "+d"(high)
                     : "b"(new_low), "c"(new_high) : "cc", "memory");
    return equal ? 1 : (int)(low ^ high) | 2;
}

static int compare_exchange_8(uint32_t low, uint32_t high)
{
    unsigned char equal;
    __asm__ volatile("lock cmpxchg8b %1\n sete %0" : "=q"(equal), "+m"(*cell), "+a"(low), "+d"(high)
                     : "b"(9), "c"(8) : "cc", "memory");
    return equal;
}

int main(void)
{
    cell[0] = 5, cell[1] = 6;
    int first = compare_exchange_16(5, 6, 0x100000002, 3);
    printf("%d %d\n", first, compare_exchange_16(5, 6, 1, 1));
    first = compare_exchange_8(2, 1);
    printf("%d %d %lx\n", first, compare_exchange_8(2, 1), cell[0]);
#define LOCKED(text)                                                                                         \
    do {                                                                                                     \
        uint64_t a = 3;                                                                                      \
        __asm__ volatile("lock " text : "+m"(*cell), "+r"(a) : : "cc", "memory", "rax");                     \
        printf("%-18s %016lx %lx\n", text, cell[0], a);                                                        \
    } while (0)
    LOCKED("addq %1, %0");
    LOCKED("orl $0x70, %0");
    LOCKED("adcb $1, %0");
    LOCKED("subw %w1, %0");
    LOCKED("xorq %1, %0");
    LOCKED("notl %0");
    LOCKED("negq %0");
    LOCKED("incb %0");
    LOCKED("xaddq %1, %0");
    LOCKED("btsq $7, %0");
    LOCKED("btrl %k1, %0");
    LOCKED("btcq $63, %0");
    uint64_t old = 1;
    __asm__ volatile("xchgq %1, %0" : "+m"(*cell), "+r"(old));
    printf("%lx %lx\n", cell[0], old);
    return 0;
}
