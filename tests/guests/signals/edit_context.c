// A handler changes the context it returns to: instruction pointer, registers, flags, stack, vector registers.
#include "signals.h"

extern char fault_here[], continue_here[];

static void handler(int s, siginfo_t *i, void *c)
{
    (void)s, (void)i;
    CHECK(REG(c, RIP) == (greg_t)fault_here);
    CHECK(REG(c, RBX) == 0x1111 && REG(c, R15) == 0x2222 && REG(c, RAX) == 0);
    REG(c, RIP) = (greg_t)continue_here;
    REG(c, RBX) = 0x3333;
    REG(c, R15) = 0x4444;
    REG(c, RCX) = 0x5555;
    REG(c, EFL) |= 1;
    struct _libc_fpstate *fp = ((ucontext_t *)c)->uc_mcontext.fpregs;
    CHECK(fp->_xmm[7].element[0] == 0x40490fdb);
    fp->_xmm[7].element[0] = 0x3f800000;
    fp->_xmm[7].element[3] = 0x12345678;
    fp->mxcsr = 0x7fa0;
    fp->cwd = 0x0c7f;
}

__attribute__((noinline)) static void fault_and_show(void)
{
    long rbx, r15, rcx, carry;
    unsigned mxcsr, control = 0, vector[4];
    __asm__ volatile("mov $0x40490fdb, %%eax\n movd %%eax, %%xmm7\n"
                     "mov $0x1111, %%ebx\n mov $0x2222, %%r15d\n xor %%eax, %%eax\n clc\n"
                     ".globl fault_here, continue_here\n"
                     "fault_here: mov (%%rax), %%rdx\n"
                     "ud2\n"
                     "continue_here: setc %b3\n movzbl %b3, %k3\n"
                     "mov %%rbx, %0\n mov %%r15, %1\n mov %%rcx, %2\n"
                     "stmxcsr %4\n fnstcw %5\n movups %%xmm7, %6\n"
                     : "=m"(rbx), "=m"(r15), "=m"(rcx), "=&d"(carry), "=m"(mxcsr), "=m"(control), "=m"(vector)
                     : : "rax", "rbx", "rcx", "r15", "xmm7", "cc", "memory");
    unsigned usual = 0x1f80;
    __asm__ volatile("ldmxcsr %0\n fninit" : : "m"(usual));
    printf("%lx %lx %lx %ld %x %x %x %x\n", rbx, r15, rcx, carry, mxcsr, control & 0xffff, vector[0], vector[3]);
}

int main(void)
{
    on_signal(SIGSEGV, handler, 0);
    for (int round = 0; round < 3; round++) fault_and_show();
    return 0;
}
