// Masks: blocked signals wait, sa_mask and the signal itself hold during the handler, KILL cannot be masked.
#include "signals.h"

static volatile int depth, deepest, count;
static int order[20];
static void handler(int s, siginfo_t *i, void *c)
{
    (void)i, (void)c;
    order[count++] = s;
    if (++depth > deepest) deepest = depth;
    CHECK(is_blocked(s));
    if (count == 1) {
        CHECK(s == SIGUSR1 && is_blocked(SIGUSR2) && is_blocked(SIGHUP) && !is_blocked(SIGTERM));
        raise(SIGUSR2); // waits, by sa_mask
        raise(SIGUSR1); // waits, being its own
        raise(SIGTERM); // does not
        CHECK(count == 2);
    }
    depth--;
}

int main(void)
{
    sigset_t set, pending;
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO}, back;
    action.sa_mask = set_of(SIGUSR2, SIGHUP);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    on_signal(SIGUSR2, handler, 0);
    on_signal(SIGTERM, handler, 0);
    CHECK(sigaction(SIGUSR1, NULL, &back) == 0 && back.sa_sigaction == handler && sigismember(&back.sa_mask, SIGHUP));
    CHECK(!sigismember(&back.sa_mask, SIGTERM) && (back.sa_flags & ~0x04000000) == SA_SIGINFO);
    sigfillset(&set);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && sigprocmask(SIG_BLOCK, NULL, &set) == 0);
    CHECK(!sigismember(&set, SIGKILL) && !sigismember(&set, SIGSTOP) && sigismember(&set, SIGSEGV));
    raise(SIGUSR1);
    CHECK(count == 0 && sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) && !sigismember(&pending, SIGUSR2));
    // Delivered before the call that unblocks returns.
    sigemptyset(&set);
    CHECK(sigprocmask(SIG_SETMASK, &set, NULL) == 0 && count == 4);
    for (int i = 0; i < count; i++) printf("%d ", order[i]);
    printf("deepest %d\n", deepest);
    CHECK(!is_blocked(SIGUSR1) && !is_blocked(SIGUSR2));
    // An ignored signal is dropped even when blocked, and SIG_IGN drops what is pending.
    set = set_of(SIGHUP, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_IGN);
    CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGUSR1));
    CHECK_ERRNO(sigprocmask(77, &set, NULL), EINVAL);
    return 0;
}
