// fxsave, xsave, xsaveopt, xsavec and their restores, over the parts that XGETBV says are there.
//@ flags: -mxsave -mxsaveopt -mxsavec -mavx
//@ needs: xsave xsaveopt xsavec avx
#include "guest.h"
#include <immintrin.h>

static unsigned char area[16384] __attribute__((aligned(64)));
static unsigned char pattern[32];

// One statement each, so that the compiler cannot touch a register in between.
#define CHECK_PAIR(save, restore)                                                                  \
    do {                                                                                           \
        unsigned char after[32], x87[10];                                                          \
        memset(area, 0, sizeof area);                                                              \
        fill_random(pattern, 32, 5);                                                               \
        __asm__ volatile("vmovdqu %3, %%ymm3\n fninit\n fldpi\n" save " %2\n"                      \
                         "vpxor %%xmm3, %%xmm3, %%xmm3\n fninit\n fldz\n" restore " %2\n"          \
                         "vmovdqu %%ymm3, %0\n fstpt %1\n fninit\n vzeroupper"                     \
                         : "=m"(after), "=m"(x87), "+m"(area)                                      \
                         : "m"(pattern), "a"(7), "d"(0)                                            \
                         : "xmm3");                                                                \
        printf("%-10s xmm %s ymm %s x87 %02x%02x\n", save, memcmp(after, pattern, 16) ? "lost" : "kept", \
               memcmp(after, pattern, 32) ? "lost" : "kept", x87[7], x87[6]);                      \
    } while (0)

static void all_ones(void)
{
    // Asking for everything saves what is enabled and nothing else.
    memset(area, 0, sizeof area);
    __asm__ volatile("xsave64 %0" : "+m"(area) : "a"(-1), "d"(-1));
    uint64_t saved, enabled = _xgetbv(0);
    memcpy(&saved, area + 512, 8);
    printf("nothing beyond the enabled: %d\n", (saved & ~enabled) == 0);
    uint64_t in_use = _xgetbv(1);
    printf("in use within enabled: %d\n", (in_use & ~enabled) == 0);
}

int main(void)
{
    CHECK_PAIR("fxsave64", "fxrstor64");
    CHECK_PAIR("xsave64", "xrstor64");
    CHECK_PAIR("xsaveopt64", "xrstor64");
    CHECK_PAIR("xsavec64", "xrstor64");
    all_ones();
    return 0;
}
