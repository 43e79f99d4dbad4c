// SIGTRAP by int3, short and long: the address is that behind the instruction. (int1 hangs some virtual machines.)
#include "signals.h"

extern char trap_0[], trap_1[], trap_2[];
static volatile int seen[3], code[3];

static void handler(int s, siginfo_t *info, void *c)
{
    static char *const behind[] = {trap_0, trap_1, trap_2};
    (void)s;
    for (int i = 0; i < 3; i++)
        if (REG(c, RIP) == (greg_t)behind[i]) seen[i]++, code[i] = info->si_code;
}

int main(void)
{
    on_signal(SIGTRAP, handler, 0);
    on_signal(SIGSEGV, handler, 0);
    for (int i = 0; i < 100; i++)
        __asm__ volatile(".globl trap_0, trap_1, trap_2\n"
                         "int3\n trap_0: nop\n"
                         ".byte 0xcd, 0x03\n trap_1: nop\n"
                         "mov $5, %%eax\n int3\n trap_2: mov $6, %%eax" : : : "rax");
    for (int i = 0; i < 3; i++) printf("%d %d\n", seen[i], code[i]);
    return 0;
}
