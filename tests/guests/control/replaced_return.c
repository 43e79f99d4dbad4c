// Functions that have run often, and then replace the address they return to: by rsp, by rbp, by another register, by halves.
#include "guest.h"

long by_rsp(long), by_rbp(long), by_register(long), by_outer_frame(long), by_push(long), by_halves(long);

// Each calls its callee, which returns 1 to where it was called from, or, if its argument is not zero, to 2 further on.
#define ROUTINE(name, callee) \
    ".globl " #name "\n" #name ":\n" \
    "  xor %eax, %eax\n" \
    "  push %rbx\n" \
    "  call 1f\n" \
    "  add $1, %eax\n" \
    "  jmp 2f\n" \
    "9: add $2, %eax\n" \
    "2: pop %rbx\n" \
    "  ret\n" \
    "1:\n" callee

__asm__(".text\n"
        ROUTINE(by_rsp,
                "  lea 9b(%rip), %rdx\n"
                "  test %rdi, %rdi\n"
                "  cmovz (%rsp), %rdx\n"
                "  mov %rdx, (%rsp)\n"
                "  ret\n")
        ROUTINE(by_rbp,
                "  push %rbp\n"
                "  mov %rsp, %rbp\n"
                "  sub $32, %rsp\n"
                "  lea 9b(%rip), %rdx\n"
                "  test %rdi, %rdi\n"
                "  cmovz 8(%rbp), %rdx\n"
                "  mov %rdx, 8(%rbp)\n"
                "  leave\n"
                "  ret\n")
        ROUTINE(by_register,
                "  lea 9b(%rip), %rdx\n"
                "  mov %rsp, %rcx\n"
                "  test %rdi, %rdi\n"
                "  cmovz (%rsp), %rdx\n"
                "  mov %rdx, (%rcx)\n"
                "  ret\n")
        ROUTINE(by_outer_frame,         // a callee of the callee does it, with a frame of its own
                "  push %rbp\n"
                "  mov %rsp, %rbp\n"
                "  lea 9b(%rip), %rdx\n"
                "  call 3f\n"
                "  pop %rbp\n"
                "  ret\n"
                "3: push %rbp\n"
                "  mov %rsp, %rbp\n"
                "  test %rdi, %rdi\n"
                "  cmovz 24(%rbp), %rdx\n"
                "  mov %rdx, 24(%rbp)\n"
                "  pop %rbp\n"
                "  ret\n")
        ROUTINE(by_push,                // pops it and pushes another
                "  pop %rcx\n"
                "  lea 9b(%rip), %rdx\n"
                "  test %rdi, %rdi\n"
                "  cmovz %rcx, %rdx\n"
                "  push %rdx\n"
                "  ret\n")
        ROUTINE(by_halves,              // only its low byte, where both addresses lie side by side
                "  lea 9b(%rip), %rdx\n"
                "  test %rdi, %rdi\n"
                "  cmovz (%rsp), %rdx\n"
                "  mov %dl, (%rsp)\n"
                "  mov %dh, 1(%rsp)\n"
                "  ret\n"));

int main(void)
{
    long (*routines[])(long) = {by_rsp, by_rbp, by_register, by_outer_frame, by_push, by_halves};
    for (unsigned r = 0; r < sizeof routines / sizeof *routines; r++) {
        long sum = 0;
        for (long i = 0; i < 6000; i++) sum += routines[r](i % 1000 == 999);
        printf("%u %ld\n", r, sum);
    }
    return 0;
}
