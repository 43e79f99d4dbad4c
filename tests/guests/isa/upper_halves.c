// Legacy SSE leaves the upper halves of ymm alone, VEX clears them, vzeroupper and vzeroall do what they say.
//@ flags: -mavx
//@ needs: avx
#include "guest.h"

static unsigned char result[32], all_ones[32];

#define UPPER(name, instruction)                                                              \
    do {                                                                                      \
        __asm__ volatile("vmovdqu %1, %%ymm5\n vmovdqu %1, %%ymm6\n" instruction              \
                         "\n vmovdqu %%ymm5, %0\n vzeroupper"                                 \
                         : "=m"(result) : "m"(all_ones) : "xmm5", "xmm6", "rax", "rcx", "r11", "cc"); \
        int kept = 0;                                                                         \
        for (int i = 16; i < 32; i++) kept += result[i] == 0xff;                              \
        printf("%-12s %s\n", name, kept == 16 ? "kept" : kept == 0 ? "cleared" : "mixed");    \
    } while (0)

int main(void)
{
    memset(all_ones, 0xff, 32);
    UPPER("addps", "addps %%xmm6, %%xmm5");
    UPPER("movaps", "movaps %%xmm6, %%xmm5");
    UPPER("movsd", "movsd %1, %%xmm5");
    UPPER("movq", "movq %%rax, %%xmm5");
    UPPER("cvtsi2sd", "cvtsi2sd %%rax, %%xmm5");
    UPPER("pxor", "pxor %%xmm5, %%xmm5");
    UPPER("vaddps", "vaddps %%xmm6, %%xmm5, %%xmm5");
    UPPER("vmovaps", "vmovaps %%xmm6, %%xmm5");
    UPPER("vmovsd", "vmovsd %1, %%xmm5");
    UPPER("vmovq", "vmovq %%rax, %%xmm5");
    UPPER("vzeroupper", "vzeroupper");
    UPPER("vzeroall", "vzeroall");
    UPPER("syscall", "mov $39, %%eax\n syscall");
    return 0;
}
