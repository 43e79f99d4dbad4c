// Prefixes and encodings that compilers and hand-written code use: rep ret, notrack, bnd, endbr64, long nops.
#include "guest.h"

long odd_prefixes(long);

__asm__(".text\n"
        "odd_prefixes:\n"
        "  .byte 0xf3, 0x0f, 0x1e, 0xfa\n"              // endbr64
        "  .byte 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
        "  .byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
        "  .byte 0x66, 0x90\n"
        "  .byte 0xf3, 0x90\n"                          // pause
        "  call 1f\n"
        "  lea 2f(%rip), %rax\n"
        "  .byte 0x3e, 0xff, 0xe0\n"                    // notrack jmp *rax
        "  ud2\n"
        "1: inc %rdi\n"
        "  .byte 0xf3, 0xc3\n"                          // rep ret
        "2: lea 3f(%rip), %rax\n"
        "  .byte 0x3e, 0xff, 0xd0\n"                    // notrack call *rax
        "  .byte 0xf2, 0xeb, 0x02\n"                    // bnd jmp +2
        "  ud2\n"
        "  lea 3f(%rip), %rax\n"
        "  .byte 0xf2, 0xff, 0xd0\n"                    // bnd call *rax
        "  .byte 0x2e, 0x74, 0x00\n"                    // branch hint, jz to the next instruction
        "  .byte 0x40, 0x48, 0x89, 0xf8\n"              // a REX that the following one replaces: mov rax, rdi
        "  .byte 0x48, 0x66, 0x05, 0x01, 0x00\n"        // a REX.W lost before 66: add ax, 1
        "  .byte 0x26, 0x64, 0x48, 0x8b, 0x14, 0x25, 0, 0, 0, 0\n" // es: then fs: the last one counts
        "  .byte 0xf2, 0xc3\n"                          // bnd ret
        "3: add $10, %rdi\n"
        "  ret\n");

int main(void)
{
    printf("%ld\n", odd_prefixes(100));
    return 0;
}
