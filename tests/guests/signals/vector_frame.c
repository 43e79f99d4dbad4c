// The signal frame holds the whole vector state: magic numbers, features, upper halves, and takes changes back.
//@ flags: -mavx
//@ needs: avx xsave
#include "signals.h"
#include <immintrin.h>

#ifndef FP_XSTATE_MAGIC1
#define FP_XSTATE_MAGIC1 0x46505853u
#define FP_XSTATE_MAGIC2 0x46505845u
#endif

static unsigned char before[32], inside[32], after[32], initial[32];
static volatile int good;

__attribute__((target("general-regs-only"))) static void copy(void *to, const void *from, int size)
{
    for (int i = 0; i < size; i++) ((volatile char *)to)[i] = ((const char *)from)[i];
}

static void handler(int s, siginfo_t *i, void *c)
{
    // A handler starts with clean vector registers.
    __asm__ volatile("vmovdqu %%ymm9, %0" : "=m"(initial));
    (void)s, (void)i;
    unsigned char *fp = (unsigned char *)((ucontext_t *)c)->uc_mcontext.fpregs;
    struct _fpx_sw_bytes sw;
    uint32_t magic2;
    uint64_t saved;
    memcpy(&sw, fp + 464, sizeof sw);
    memcpy(&magic2, fp + sw.extended_size - 4, 4);
    memcpy(&saved, fp + 512, 8);
    good = sw.magic1 == FP_XSTATE_MAGIC1 && magic2 == FP_XSTATE_MAGIC2 && (uintptr_t)fp % 64 == 0 && sw.xstate_size + 4 == sw.extended_size
           && (sw.xstate_bv & 7) == 7 && (saved & 6) == 6 && (((ucontext_t *)c)->uc_flags & 1);
    copy(inside, fp + 160 + 16 * 9, 16);
    copy(inside + 16, fp + 576 + 16 * 9, 16); // standard format: upper halves of ymm at 576
    for (int k = 0; k < 16; k++) fp[576 + 16 * 9 + k] ^= 0xff, fp[160 + 16 * 9 + k] += 1;
}

int main(void)
{
    on_signal(SIGTRAP, handler, 0);
    for (int round = 0; round < 20; round++) {
        fill_random(before, 32, (uint64_t)round + 1);
        __asm__ volatile("vmovdqu %1, %%ymm9\n int3\n vmovdqu %%ymm9, %0\n vzeroupper" : "=m"(after) : "m"(before) : "xmm9");
        CHECK(good && !memcmp(inside, before, 32));
        for (int i = 0; i < 16; i++) CHECK(after[i] == (unsigned char)(before[i] + 1) && after[16 + i] == (unsigned char)~before[16 + i]);
        for (int i = 0; i < 32; i++) CHECK(initial[i] == 0);
    }
    puts("complete");
    return 0;
}
