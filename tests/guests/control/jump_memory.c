// Indirect jumps and calls with every kind of operand: all registers, memory in all address forms, the stack.
#include "guest.h"

long by_register(long), by_memory(long);
void *volatile jump_slots[4];

__asm__(".text\n"
        ".macro through reg\n"
        "  lea 1f(%rip), %\\reg\n"
        "  jmp *%\\reg\n"
        "  ud2\n"
        "1: add $1, %rdi\n"
        "  lea 2f(%rip), %\\reg\n"
        "  call *%\\reg\n"
        "  jmp 3f\n"
        "2: add $100, %rdi\n"
        "  ret\n"
        "3:\n"
        ".endm\n"
        "by_register:\n"
        "  push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n sub $8, %rsp\n"
        "  through rax\n through rbx\n through rcx\n through rdx\n through rsi\n through rbp\n"
        "  through r8\n through r9\n through r10\n through r11\n through r12\n through r13\n through r14\n"
        "  through r15\n"
        "  mov %rdi, %rax\n"
        "  add $8, %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n"
        "  ret\n"
        "by_memory:\n"
        "  push %rbp\n"
        "  lea 1f(%rip), %rax\n"
        "  mov %rax, jump_slots(%rip)\n"
        "  jmp *jump_slots(%rip)\n"                 // rip-relative
        "1: lea 2f(%rip), %rax\n"
        "  lea jump_slots(%rip), %rcx\n"
        "  mov %rax, 16(%rcx)\n"
        "  mov $2, %edx\n"
        "  jmp *(%rcx,%rdx,8)\n"                    // base and index
        "2: lea 3f(%rip), %rax\n"
        "  mov %rax, 24(%rcx)\n"
        "  mov %rcx, %rbp\n"
        "  jmp *24(%rbp)\n"
        "3: lea 4f(%rip), %rax\n"
        "  mov %rax, -8(%rsp)\n"
        "  jmp *-8(%rsp)\n"                         // in the red zone
        "4: lea 5f(%rip), %rax\n"
        "  mov %rax, (%rcx)\n"
        "  mov %rcx, %rax\n"
        "  jmp *(%rax)\n"                           // the register named and loaded from is one
        "5: lea 7f(%rip), %rax\n"
        "  push %rax\n"
        "  call *(%rsp)\n"
        "6: mov %rdi, %rax\n"
        "  pop %rcx\n"
        "  pop %rbp\n"
        "  ret\n"
        "7: add $1, %rdi\n"
        "  lea 6b(%rip), %rax\n"
        "  cmp %rax, (%rsp)\n"                      // the pushed return address is the program's own
        "  je 8f\n"
        "  ud2\n"
        "8: ret\n");

int main(void)
{
    long sum = 0;
    for (int i = 0; i < 100; i++) sum += by_register(i) + by_memory(i);
    printf("%ld %ld %ld\n", by_register(0), by_memory(41), sum);
    return 0;
}
