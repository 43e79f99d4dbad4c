// siglongjmp out of handlers, thousands of times, from the ordinary and the alternate stack, for real faults.
#include "signals.h"
#include <setjmp.h>

static sigjmp_buf back;
static char stack[65536];

static void handler(int s, siginfo_t *i, void *c)
{
    (void)i, (void)c;
    siglongjmp(back, s);
}

int main(void)
{
    stack_t want = {.ss_sp = stack, .ss_size = sizeof stack}, now;
    CHECK(sigaltstack(&want, NULL) == 0);
    on_signal(SIGSEGV, handler, SA_ONSTACK);
    on_signal(SIGFPE, handler, 0);
    on_signal(SIGUSR1, handler, SA_ONSTACK);
    volatile int zero = 0, count[3] = {0};
    for (volatile int i = 0; i < 3000; i++) {
        int s = sigsetjmp(back, 1);
        if (s) {
            count[s == SIGSEGV ? 0 : s == SIGFPE ? 1 : 2]++;
            CHECK(!is_blocked(s) && sigaltstack(NULL, &now) == 0 && now.ss_flags == 0);
            continue;
        }
        if (i % 3 == 0) *(volatile char *)16 = 1;
        if (i % 3 == 1) count[0] = 5 / zero;
        raise(SIGUSR1);
    }
    printf("%d %d %d\n", count[0], count[1], count[2]);
    return 0;
}
