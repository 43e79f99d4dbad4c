// A signal in the middle of a computation shows the registers exactly as of the instruction it interrupts.
#include "signals.h"
#include <sys/time.h>

extern char step_0[], step_1[], step_end[];
static volatile long seen, wrong, elsewhere;

static void handler(int s, siginfo_t *info, void *c)
{
    (void)s, (void)info;
    char *rip = (char *)REG(c, RIP);
    long a = REG(c, R12), b = REG(c, R13);
    if (rip < step_0 || rip >= step_end) {
        elsewhere++;
        return;
    }
    seen++;
    // Before step_1 has run, r13 lags behind r12.
    long done = rip == step_1 ? a - 1 : a;
    if (b != 3 * done) wrong++;
}

int main(void)
{
    struct itimerval timer = {{0, 500}, {0, 500}}, stop = {{0, 0}, {0, 0}};
    on_signal(SIGALRM, handler, 0);
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    while (seen < 40)
        __asm__ volatile("xor %%r12d, %%r12d\n xor %%r13d, %%r13d\n mov $200000, %%ecx\n"
                         ".globl step_0, step_1, step_2, step_end\n"
                         "step_0: inc %%r12\n"
                         "step_1: add $3, %%r13\n"
                         "step_2: dec %%ecx\n"
                         "jnz step_0\n"
                         "step_end:"
                         : : : "r12", "r13", "rcx", "cc");
    CHECK(setitimer(ITIMER_REAL, &stop, NULL) == 0);
    printf("%ld wrong\n", wrong);
    return 0;
}
