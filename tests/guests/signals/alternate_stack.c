// sigaltstack: handlers run on it if they ask, what it reports inside and outside, and its errors.
#include "signals.h"

static char stack[65536], other[65536];
static volatile int on_it, flags_inside;

static int within(void *p, char *area) { return (char *)p >= area && (char *)p < area + 65536; }

static void nested(int s, siginfo_t *i, void *c)
{
    char here;
    (void)s, (void)i, (void)c;
    on_it += 10 * within(&here, stack);
}
static void handler(int s, siginfo_t *i, void *context)
{
    char here;
    stack_t now, change = {.ss_sp = other, .ss_size = sizeof other};
    ucontext_t *uc = (ucontext_t *)context;
    (void)s, (void)i;
    on_it += within(&here, stack);
    CHECK(sigaltstack(NULL, &now) == 0);
    flags_inside = now.ss_flags;
    CHECK(uc->uc_stack.ss_sp == stack && uc->uc_stack.ss_size == sizeof stack);
    CHECK(!within((void *)uc->uc_mcontext.gregs[REG_RSP], stack));
    if (within(&here, stack)) CHECK_ERRNO(sigaltstack(&change, NULL), EPERM);
    raise(SIGUSR2);
}

int main(void)
{
    stack_t want = {.ss_sp = stack, .ss_size = sizeof stack}, now;
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_DISABLE);
    CHECK(sigaltstack(&want, NULL) == 0 && sigaltstack(NULL, &now) == 0 && now.ss_flags == 0 && now.ss_sp == stack);
    on_signal(SIGUSR1, handler, SA_ONSTACK);
    on_signal(SIGUSR2, nested, SA_ONSTACK);
    raise(SIGUSR1);
    printf("%d %d\n", on_it, flags_inside == SS_ONSTACK);
    on_it = 0;
    on_signal(SIGUSR1, handler, 0);
    on_signal(SIGUSR2, nested, 0);
    raise(SIGUSR1);
    printf("%d %d\n", on_it, flags_inside == SS_ONSTACK);
    want.ss_size = 100;
    CHECK_ERRNO(sigaltstack(&want, NULL), ENOMEM);
    want.ss_size = sizeof stack, want.ss_flags = 0x1234;
    CHECK_ERRNO(sigaltstack(&want, NULL), EINVAL);
    want.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&want, &now) == 0 && now.ss_sp == stack && sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_DISABLE);
    return 0;
}
