// SS_AUTODISARM: the alternate stack is free inside the handler, which may swap contexts, and armed again after.
#include "signals.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

static char stack[65536], second[65536];
static volatile int disarmed;

static void handler(int s, siginfo_t *i, void *c)
{
    stack_t now, other = {.ss_sp = second, .ss_size = sizeof second};
    (void)s, (void)i, (void)c;
    CHECK(sigaltstack(NULL, &now) == 0);
    disarmed = now.ss_flags == SS_DISABLE;
    CHECK(sigaltstack(&other, NULL) == 0);
}

int main(void)
{
    stack_t want = {.ss_sp = stack, .ss_flags = (int)SS_AUTODISARM, .ss_size = sizeof stack}, now;
    CHECK(sigaltstack(&want, NULL) == 0);
    on_signal(SIGUSR1, handler, SA_ONSTACK);
    for (int i = 0; i < 3; i++) {
        raise(SIGUSR1);
        CHECK(disarmed && sigaltstack(NULL, &now) == 0 && now.ss_sp == stack && now.ss_flags == (int)SS_AUTODISARM);
    }
    puts("armed again");
    return 0;
}
