// Straight code of ten thousand instructions, and blocks of every short length.
#include "guest.h"

long long_block(long), many_blocks(long);

__asm__(".text\n"
        "long_block:\n"
        "  mov %rdi, %rax\n"
        "  .rept 5000\n"
        "  add $3, %rax\n"
        "  xor $0x55, %rax\n"
        "  .endr\n"
        "  ret\n"
        "many_blocks:\n"
        "  mov %rdi, %rax\n"
        "  .set length, 0\n"
        "  .rept 64\n"
        "  .rept length\n"
        "  add $1, %rax\n"
        "  .endr\n"
        "  test $1, %al\n"
        "  jz 1f\n"
        "  add $1, %rax\n"
        "1: .set length, length + 1\n"
        "  .endr\n"
        "  ret\n");

int main(void)
{
    for (long i = 0; i < 5; i++) printf("%ld %ld\n", long_block(i), many_blocks(i));
    return 0;
}
