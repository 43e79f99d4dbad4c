// Code that changes the very next instruction, one of its own block, and itself in each round of a loop.
#include "jit.h"

long patch_next(long), patch_block(long), patch_loop(long);
__asm__(".section .patchable, \"awx\", @progbits\n"
        "patch_next:\n"                     // the immediate of the instruction behind the store
        "  mov %dil, 1f+1(%rip)\n"
        "1: mov $0x11, %eax\n"
        "  and $0xff, %eax\n"
        "  ret\n"
        "patch_block:\n"                    // one a little further on, in the same straight line
        "  xor %eax, %eax\n"
        "  mov %dil, 2f+3(%rip)\n"
        "  inc %rax\n inc %rax\n"
        "2: add $0x11, %rax\n"
        "  mov %dil, 3f+3(%rip)\n"
        "  nop\n"
        "3: add $0x11, %rax\n"
        "  ret\n"
        "patch_loop:\n"                     // the loop's own add grows by one each time
        "  xor %eax, %eax\n"
        "  movb $0, 4f+3(%rip)\n"
        "4: add $0x00, %rax\n"
        "  incb 4b+3(%rip)\n"
        "  dec %rdi\n"
        "  jnz 4b\n"
        "  ret\n"
        ".text\n");

int main(void)
{
    for (long i = 0; i < 50; i++) {
        CHECK(patch_next(i) == i);
        CHECK(patch_block(i) == 2 + 2 * i);
    }
    printf("%ld %ld %ld %ld\n", patch_next(7), patch_block(9), patch_loop(10), patch_loop(100));
    return 0;
}
