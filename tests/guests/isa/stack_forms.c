// push, pop, enter, leave and their kin in all forms, with the red zone in use around them.
#include "guest.h"

long stack_forms(long *memory);
__asm__(".text\n"
        "stack_forms:\n"
        "  push %rbp\n push %rbx\n"
        "  mov %rsp, %rbx\n"
        "  push $-5\n"
        "  push $0x12345678\n"
        "  push (%rdi)\n"
        "  push 8(%rdi)\n"
        "  pushw $7\n"
        "  pushw 2(%rdi)\n"
        "  popw %ax\n"
        "  popw 24(%rdi)\n"
        "  pop 16(%rdi)\n"
        "  pop %rcx\n"
        "  add (%rsp), %rcx\n"
        "  xchg %rcx, (%rsp)\n"
        "  pop %rdx\n pop %rax\n"
        "  add %rdx, %rax\n"
        "  push %fs\n pop %rdx\n"
        "  add %rdx, %rax\n"
        "  enter $32, $0\n"
        "  mov %rax, -8(%rbp)\n"
        "  mov %rbp, %rcx\n"
        "  sub %rsp, %rcx\n"
        "  add %rcx, %rax\n"
        "  leave\n"
        "  push %rbx\n mov %rsp, %rbp\n"
        "  push $1\n push $2\n"
        "  enter $16, $2\n"
        "  mov (%rsp), %rcx\n"
        "  leave\n"
        "  mov %rbp, %rsp\n"
        "  pop %rcx\n"
        "  mov %rbx, %rsp\n"
        "  mov %rsp, -16(%rsp)\n"
        "  mov -16(%rsp), %rsp\n"
        "  xchg %rsp, %rdx\n xchg %rdx, %rsp\n"
        "  lea -64(%rsp), %rsp\n add $64, %rsp\n sub $-8, %rsp\n add $-8, %rsp\n"
        "  cmp %rsp, %rbx\n je 1f\n ud2\n"
        "1: pop %rbx\n pop %rbp\n"
        "  ret\n");

int main(void)
{
    long memory[4] = {0x1122334455667788, 42, 0, 0};
    long result = stack_forms(memory);
    printf("%lx %lx %lx %lx\n", result, memory[0], memory[2], memory[3]);
    return 0;
}
