// feenableexcept: SSE traps at the very instruction, x87 at the next one; code and address say which.
//@ libs: -lm
#include "signals.h"
#include <emmintrin.h>
#include <fenv.h>
#include <math.h>
#include <setjmp.h>

extern char sse_divide[], x87_next[], packed_divide[];
static sigjmp_buf back;
static volatile int code, sse_exact, x87_exact, packed_exact, number;
static volatile unsigned mxcsr, status;

static void handler(int s, siginfo_t *info, void *c)
{
    (void)s;
    code = info->si_code, number = (int)REG(c, TRAPNO);
    sse_exact = REG(c, RIP) == (greg_t)sse_divide && info->si_addr == sse_divide;
    packed_exact = REG(c, RIP) == (greg_t)packed_divide && info->si_addr == packed_divide;
    x87_exact = REG(c, RIP) == (greg_t)x87_next;
    mxcsr = ((ucontext_t *)c)->uc_mcontext.fpregs->mxcsr & 0x3f, status = ((ucontext_t *)c)->uc_mcontext.fpregs->swd & 0x3f;
    siglongjmp(back, 1);
}

static volatile double zero = 0, one = 1, huge = 1e308, tiny = 1e-308, negative = -1;
static volatile double sink;

#define TRAPS(name, excepts, ...)                                                              \
    do {                                                                                       \
        if (!sigsetjmp(back, 1)) {                                                             \
            feclearexcept(FE_ALL_EXCEPT);                                                      \
            feenableexcept(excepts);                                                           \
            __VA_ARGS__;                                                                       \
            fedisableexcept(FE_ALL_EXCEPT);                                                    \
            printf("%-10s no trap\n", name);                                                   \
        } else {                                                                               \
            feclearexcept(FE_ALL_EXCEPT);                                                      \
            fedisableexcept(FE_ALL_EXCEPT);                                                    \
            printf("%-10s code %d trap %d mxcsr %x status %x exact %d%d%d\n", name, code, number, mxcsr, status, sse_exact, packed_exact, x87_exact); \
        }                                                                                      \
    } while (0)

int main(void)
{
    on_signal(SIGFPE, handler, 0);
    TRAPS("divide", FE_DIVBYZERO, __asm__ volatile(".globl sse_divide\n movaps %0, %%xmm3\n sse_divide: divsd %1, %%xmm3" : : "x"(one), "x"(zero) : "xmm3"));
    TRAPS("invalid", FE_INVALID, sink = zero / zero);
    TRAPS("overflow", FE_OVERFLOW, sink = huge * huge);
    TRAPS("underflow", FE_UNDERFLOW, sink = tiny * tiny);
    TRAPS("inexact", FE_INEXACT, sink = one / 3);
    TRAPS("masked", FE_OVERFLOW, sink = one / zero);
    TRAPS("sqrt", FE_INVALID, sink = sqrt(negative));
    TRAPS("convert", FE_INVALID, sink = (double)(int)huge);
    TRAPS("packed", FE_DIVBYZERO, __asm__ volatile("xorps %%xmm2, %%xmm2\n movapd %0, %%xmm4\n .globl packed_divide\n packed_divide: divpd %%xmm2, %%xmm4" : : "x"(_mm_set1_pd(1.0)) : "xmm2", "xmm4"));
    TRAPS("x87", FE_DIVBYZERO, __asm__ volatile("fld1\n fldz\n fdivrp\n nop\n lea 1(%%rax), %%rax\n .globl x87_next\n x87_next: fwait\n fstp %%st" : : : "rax", "st"));
    // Trapping holds over calls and in a loop: nothing else raises in between.
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    double sum = 0;
    for (int i = 1; i < 1000; i++) sum += one / i + exp(sin(i));
    printf("%.12g\n", sum);
    return 0;
}
