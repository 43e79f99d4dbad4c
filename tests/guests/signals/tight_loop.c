// A signal reaches a loop of two instructions, one that jumps to itself, and one inside a string instruction.
#include "signals.h"
#include <sys/time.h>

static volatile int flag;
extern char after_loop[];
static void set_flag(int s, siginfo_t *i, void *c) { (void)s, (void)i, (void)c, flag = 1; }
static void leave_loop(int s, siginfo_t *i, void *c) { (void)s, (void)i, REG(c, RIP) = (greg_t)after_loop; }

static void soon(void)
{
    struct itimerval timer = {{0, 0}, {0, 3000}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

int main(void)
{
    on_signal(SIGALRM, set_flag, 0);
    for (int i = 0; i < 5; i++) {
        flag = 0;
        soon();
        while (!flag) continue;
    }
    puts("flag seen");
    static char area[1 << 16];
    flag = 0;
    soon();
    while (!flag) {
        void *to = area;
        unsigned long count = sizeof area;
        __asm__ volatile("rep stosb" : "+c"(count), "+D"(to) : "a"(0) : "memory");
    }
    puts("string left");
    on_signal(SIGALRM, leave_loop, 0);
    soon();
    __asm__ volatile(".globl after_loop\n1: jmp 1b\n after_loop:");
    puts("loop left");
    return 0;
}
