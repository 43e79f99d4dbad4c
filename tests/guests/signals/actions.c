// sigaction: what was set is what is read, SA_RESETHAND and SA_NODEFER do their part, bad arguments are refused.
#include "signals.h"
#include <sys/syscall.h>

static volatile int depth, deepest, runs;
static void nodefer(int s, siginfo_t *i, void *c)
{
    (void)i, (void)c;
    runs++;
    if (++depth > deepest) deepest = depth;
    if (depth < 5) raise(s);
    depth--;
}
static void once(int s, siginfo_t *i, void *c)
{
    struct sigaction now;
    (void)i, (void)c;
    CHECK(sigaction(s, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    runs++;
}

int main(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    CHECK_ERRNO(sigaction(SIGKILL, &action, NULL), EINVAL);
    CHECK_ERRNO(sigaction(SIGSTOP, &action, NULL), EINVAL);
    CHECK_ERRNO(sigaction(0, &action, NULL), EINVAL);
    CHECK_ERRNO(sigaction(65, &action, NULL), EINVAL);
    CHECK_ERRNO(syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 4), EINVAL);
    CHECK(sigaction(SIGKILL, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    // No handler but the default, or an ignored signal inherited, for those that libc keeps to itself too.
    for (int s = 1; s <= 64; s++) {
        unsigned long before[4];
        CHECK(syscall(SYS_rt_sigaction, s, NULL, before, 8) == 0 && before[0] <= 1);
    }
    on_signal(SIGUSR1, nodefer, SA_NODEFER);
    raise(SIGUSR1);
    printf("%d %d\n", runs, deepest);
    runs = 0;
    on_signal(SIGUSR1, once, (int)SA_RESETHAND);
    raise(SIGUSR1);
    CHECK(runs == 1);
    signal(SIGUSR1, SIG_IGN);
    raise(SIGUSR1);
    // SIGCHLD, SIGURG, SIGWINCH, SIGCONT do nothing by default.
    raise(SIGCHLD), raise(SIGURG), raise(SIGWINCH), raise(SIGCONT);
    printf("%d\n", runs);
    return 0;
}
