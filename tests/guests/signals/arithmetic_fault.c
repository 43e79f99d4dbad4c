// SIGFPE of integer division: by zero and overflow, with the instruction's address, repaired and repeated.
#include "signals.h"

extern char divide_here[];
static volatile int code, at_divide, traps;

static void handler(int s, siginfo_t *info, void *c)
{
    (void)s;
    code = info->si_code;
    at_divide = REG(c, RIP) == (greg_t)divide_here && info->si_addr == divide_here && REG(c, TRAPNO) == 0;
    traps++;
    REG(c, RCX) = 7;
    REG(c, RAX) = 100;
    REG(c, RDX) = 0;
}

__attribute__((noinline)) static long divide(long a, long b)
{
    long quotient = a;
    __asm__ volatile(".globl divide_here\n cqto\n divide_here: idivq %%rcx" : "+a"(quotient), "+c"(b) : : "rdx", "cc");
    return quotient;
}

int main(void)
{
    on_signal(SIGFPE, handler, 0);
    printf("%ld\n", divide(30, 3));
    long quotient = divide(30, 0);
    printf("%ld %d %d\n", quotient, code, at_divide);
    quotient = divide((long)1 << 63, -1);
    printf("%ld %d %d\n", quotient, code, at_divide);
    for (int i = 0; i < 1000; i++) CHECK(divide(i, 0) == 14);
    printf("%d\n", traps);
    return 0;
}
