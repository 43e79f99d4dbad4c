// The trap flag: one SIGTRAP after each instruction, with the program's own addresses.
#include "signals.h"

extern char stepped[], stepped_end[];
static volatile int steps, outside, log_at[64];

static void handler(int s, siginfo_t *info, void *c)
{
    (void)s, (void)info;
    char *rip = (char *)REG(c, RIP);
    if (rip >= stepped && rip <= stepped_end && steps < 64) log_at[steps++] = (int)(rip - stepped);
    else outside++;
}

int main(void)
{
    on_signal(SIGTRAP, handler, 0);
    __asm__ volatile(".globl stepped, stepped_end\n"
                     "pushfq\n orq $0x100, (%%rsp)\n popfq\n"
                     "stepped: mov $3, %%ecx\n"
                     "1: dec %%ecx\n"
                     "jnz 1b\n"
                     "call 2f\n"
                     "jmp 3f\n"
                     "2: ret\n"
                     "3: pushfq\n andq $~0x100, (%%rsp)\n popfq\n"
                     "stepped_end: nop" : : : "rcx", "cc", "memory");
    for (int i = 0; i < steps; i++) printf("%d ", log_at[i]);
    printf("outside %d\n", outside);
    return 0;
}
