// Generated floating-point code: kernels built from SSE and AVX instructions, changed and called again.
//@ needs: avx
#include "jit.h"

typedef double (*kernel)(const double *, long);

// xorps xmm0,xmm0; loop: op xmm0,[rdi]; add rdi,8; dec rsi; jnz loop; ret
static void build(unsigned char *at, unsigned char opcode)
{
    static const unsigned char head[] = {0x0f, 0x57, 0xc0, 0xf2, 0x0f}, tail[] = {0x07, 0x48, 0x83, 0xc7, 0x08, 0x48, 0xff, 0xce, 0x75, 0xf3, 0xc3};
    memcpy(at, head, 5);
    at[5] = opcode;
    memcpy(at + 6, tail, sizeof tail);
}

int main(void)
{
    static double numbers[1000];
    unsigned char *code = pages(4096, RWX);
    for (int i = 0; i < 1000; i++) numbers[i] = 1.0 / (i + 1) + (i % 7);
    static const unsigned char opcodes[] = {0x58, 0x5c, 0x5f, 0x5d};
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < 4; i++) {
            build(code, opcodes[i]);
            double result = ((kernel)(uintptr_t)code)(numbers, 1000 - round);
            if (round % 10 == 0) printf("%.17g\n", result);
        }
    // vaddsd xmm0,xmm0,[rdi]
    memcpy(code, "\xc5\xf9\x57\xc0\xc5\xfb\x58\x07\x48\x83\xc7\x08\x48\xff\xce\x75\xf3\xc3", 18);
    printf("%.17g\n", ((kernel)(uintptr_t)code)(numbers, 1000));
    return 0;
}
