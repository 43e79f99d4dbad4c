// Signals by the bare system calls: an own restorer, sigreturn from assembly, a handler without siginfo.
#include "signals.h"
#include <sys/syscall.h>

struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};
void own_restorer(void);
__asm__(".text\nown_restorer: lock incl restored(%rip)\n mov $15, %eax\n syscall\n ud2\n"
        ".data\n.globl restored\nrestored: .long 0\n.text\n");
extern int restored;
static volatile int seen;
static void handler(int s) { seen += s; }

int main(void)
{
    struct kernel_action action = {handler, 0x04000000, own_restorer, 0}, old;
    CHECK(syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8) == 0);
    CHECK(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &old, 8) == 0);
    CHECK(old.handler == handler && old.flags == 0x04000000 && old.restorer == own_restorer && old.mask == 0);
    for (int i = 0; i < 100; i++) {
        long a = 1, b = 2;
        __asm__ volatile("mov $77, %%r12\n syscall\n" : "=a"(a) : "a"(SYS_tkill), "D"(gettid()), "S"(SIGUSR1) : "rcx", "r11", "r12", "memory");
        CHECK(a == 0 && b == 2);
    }
    printf("%d %d\n", seen, restored);
    return 0;
}
