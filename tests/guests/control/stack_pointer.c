// The stack pointer as an ordinary register, and stacks in odd places: nobody else may use rsp.
#include "guest.h"

long rsp_as_number(long), odd_stack(long), switch_stacks(void *top, long (*function)(long), long argument);
static char other_stack[65536] __attribute__((aligned(16)));

__asm__(".text\n"
        "rsp_as_number:\n"              // branches and indirect jumps while rsp is not an address
        "  mov %rsp, %r8\n"
        "  lea 1f(%rip), %r9\n"
        "  mov %rdi, %rsp\n"
        "  mov $1000, %ecx\n"
        "1: add $3, %rsp\n"
        "  dec %ecx\n"
        "  jz 2f\n"
        "  jmp *%r9\n"
        "2: lea 3f(%rip), %r9\n"
        "  jmp *%r9\n"
        "  ud2\n"
        "3: mov %rsp, %rax\n"
        "  mov %r8, %rsp\n"
        "  ret\n"
        "odd_stack:\n"                  // not even aligned
        "  mov %rsp, %r8\n"
        "  sub $1003, %rsp\n"
        "  call 1f\n"
        "  push %rax\n"
        "  pop %rax\n"
        "  pushw %ax\n"
        "  popw %ax\n"
        "  mov %r8, %rsp\n"
        "  ret\n"
        "1: lea 5(%rdi), %rax\n"
        "  ret\n"
        "switch_stacks:\n"
        "  push %rbp\n"
        "  mov %rsp, %rbp\n"
        "  mov %rdi, %rsp\n"
        "  mov %rdx, %rdi\n"
        "  call *%rsi\n"
        "  mov %rbp, %rsp\n"
        "  pop %rbp\n"
        "  ret\n");

static long print_there(long x)
{
    char here;
    CHECK(&here > other_stack && &here < other_stack + sizeof other_stack);
    printf("on the other stack: %ld\n", x);
    return x + 1;
}

int main(void)
{
    printf("%ld %ld\n", rsp_as_number(0), odd_stack(37));
    printf("%ld\n", switch_stacks(other_stack + sizeof other_stack, print_there, 8));
    return 0;
}
