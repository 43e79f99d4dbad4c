// Calls that never return and returns that were never called: call/pop, push/ret, changed return addresses.
#include "guest.h"

long call_pop(void), push_ret(long), skip_return(void), ret_into_table(long), call_through_stack(void), ret_imm(void);
long far_return(void), interrupt_return(void), pop_own_stack(void), call_minus_one(void);

__asm__(".text\n"
        "call_pop:\n"                   // the address of the next instruction is what call pushed
        "  call 1f\n"
        "1: pop %rax\n"
        "  lea 1b(%rip), %rcx\n"
        "  sub %rcx, %rax\n"
        "  ret\n"
        "push_ret:\n"
        "  lea 2f(%rip), %rax\n"
        "  push %rax\n"
        "  lea 1f(%rip), %rax\n"
        "  push %rax\n"
        "  ret\n"
        "1: add $10, %rdi\n"
        "  ret\n"
        "2: lea 100(%rdi), %rax\n"
        "  ret\n"
        "skip_return:\n"                // the callee returns three bytes further on
        "  xor %eax, %eax\n"
        "  call 1f\n"
        "  .byte 0x0f, 0x0b, 0x90\n"    // never executed
        "  inc %eax\n"
        "  ret\n"
        "1: addq $3, (%rsp)\n"
        "  ret\n"
        "ret_into_table:\n"
        "  lea 1f(%rip), %rax\n"
        "  lea (%rax,%rdi,8), %rax\n"
        "  push %rax\n"
        "  ret\n"
        "  .balign 8\n"
        "1: mov $11, %eax\n ret\n .balign 8\n"
        "  mov $22, %eax\n ret\n .balign 8\n"
        "  mov $33, %eax\n ret\n .balign 8\n"
        "call_through_stack:\n"
        "  lea 1f(%rip), %rax\n"
        "  push %rax\n"
        "  push %rax\n"
        "  call *8(%rsp)\n"             // the operand is read before the return address is pushed
        "  call *(%rsp)\n"
        "  add $16, %rsp\n"
        "  mov %rsp, %rcx\n"
        "  lea 1f(%rip), %rsp\n"        // an indirect call whose register is the stack pointer's neighbour
        "  mov %rsp, %rdx\n"
        "  mov %rcx, %rsp\n"
        "  call *%rdx\n"
        "  ret\n"
        "1: add $1, %edi\n"
        "  mov %edi, %eax\n"
        "  ret\n"
        "ret_imm:\n"
        "  mov %rsp, %rcx\n"
        "  push $1\n push $2\n push $3\n"
        "  call 1f\n"
        "  sub %rsp, %rcx\n"
        "  lea (%rcx,%rax), %rax\n"
        "  ret\n"
        "1: mov 8(%rsp), %rax\n"
        "  ret $24\n"
        "far_return:\n"
        "  mov %cs, %eax\n"
        "  push %rax\n"
        "  lea 1f(%rip), %rax\n"
        "  push %rax\n"
        "  lretq\n"
        "  ud2\n"
        "1: mov $77, %eax\n"
        "  ret\n"
        "interrupt_return:\n"
        "  mov %rsp, %rcx\n"
        "  mov %ss, %eax\n"
        "  push %rax\n"
        "  push %rcx\n"
        "  pushfq\n"
        "  orq $1, (%rsp)\n"            // returns with the carry flag set
        "  mov %cs, %eax\n"
        "  push %rax\n"
        "  lea 1f(%rip), %rax\n"
        "  push %rax\n"
        "  iretq\n"
        "  ud2\n"
        "1: setc %al\n"
        "  movzbl %al, %eax\n"
        "  ret\n"
        "pop_own_stack:\n"
        "  mov %rsp, %rcx\n"
        "  push %rsp\n"                 // pushes the old value
        "  pop %rax\n"
        "  sub %rcx, %rax\n"
        "  push $5\n"
        "  push $6\n"
        "  pop (%rsp)\n"                // the address is computed after the increment
        "  pop %rdx\n"
        "  add %rdx, %rax\n"
        "  mov %rsp, %rdx\n"
        "  push %rdx\n"
        "  pop %rsp\n"                  // loads the popped value, no increment after
        "  cmp %rsp, %rcx\n"
        "  je 1f\n"
        "  ud2\n"
        "1: ret\n"
        "call_minus_one:\n"             // the called instruction overlaps the call itself: ff c0 is inc eax
        "  xor %eax, %eax\n"
        "  .byte 0xe8, 0xff, 0xff, 0xff, 0xff, 0xc0\n"
        "  pop %rdx\n"
        "  ret\n");

int main(void)
{
    printf("%ld %ld %ld\n", call_pop(), push_ret(1), skip_return());
    for (long i = 0; i < 3; i++) printf("%ld ", ret_into_table(i));
    for (int i = 0; i < 100; i++) call_through_stack();
    printf("%ld %ld %ld\n", ret_imm(), far_return(), interrupt_return());
    printf("%ld %ld\n", pop_own_stack(), call_minus_one());
    return 0;
}
