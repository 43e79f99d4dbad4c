// abort calls a handler for SIGABRT first, and ends the program even if that returns or the signal is ignored.
//@ exit: SIGABRT
#include "signals.h"
#include <sys/wait.h>

static void handler(int s, siginfo_t *i, void *c)
{
    (void)s, (void)i, (void)c;
    CHECK(write(1, "handler\n", 8) == 8);
}

int main(void)
{
    pid_t pid = fork();
    if (!pid) {
        signal(SIGABRT, SIG_IGN);
        abort();
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGABRT);
    on_signal(SIGABRT, handler, 0);
    abort();
}
