// The 128 bytes below the stack pointer keep their contents over branches, indirect jumps and cpuid.
#include "guest.h"

long use_red_zone(long);

__asm__(".text\n"
        "use_red_zone:\n"
        "  .set at, -128\n"
        "  mov %rdi, %rax\n"
        "  .rept 16\n"
        "  mov %rax, at(%rsp)\n"
        "  add $1, %rax\n"
        "  .set at, at + 8\n"
        "  .endr\n"
        "  lea 1f(%rip), %rcx\n"
        "  jmp *%rcx\n"
        "  ud2\n"
        "1: mov $200, %ecx\n"
        "2: dec %ecx\n"
        "  jnz 2b\n"
        "  mov %rbx, %r8\n"
        "  xor %eax, %eax\n"
        "  cpuid\n"
        "  mov %r8, %rbx\n"
        "  mov $39, %eax\n"             // getpid
        "  syscall\n"
        "  xor %eax, %eax\n"
        "  .set at, -128\n"
        "  .rept 16\n"
        "  imul $31, %rax, %rax\n"
        "  add at(%rsp), %rax\n"
        "  .set at, at + 8\n"
        "  .endr\n"
        "  ret\n");

int main(void)
{
    long sum = 0;
    for (long i = 0; i < 1000; i++) sum += use_red_zone(i);
    printf("%ld %ld\n", use_red_zone(7), sum);
    return 0;
}
