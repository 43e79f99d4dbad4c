// Two processes wake each other with signals and sigsuspend; a lost signal would stop them for good.
#include "signals.h"
#include <sys/wait.h>

static volatile int got;
static void handler(int s, siginfo_t *i, void *c) { (void)s, (void)i, (void)c, got++; }

int main(void)
{
    sigset_t set = set_of(SIGUSR1, 0), none;
    sigemptyset(&none);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    on_signal(SIGUSR1, handler, 0);
    pid_t parent = getpid(), child = fork(), other = child ? child : parent;
    for (int i = 0; i < 2000; i++) {
        if (child) kill(other, SIGUSR1);
        while (!got) sigsuspend(&none);
        got--;
        if (!child) kill(other, SIGUSR1);
    }
    if (!child) _exit(7);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
    puts("2000 rounds");
    return 0;
}
