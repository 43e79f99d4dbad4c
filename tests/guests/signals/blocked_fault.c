// A fault whose signal is blocked or ignored kills all the same.
//@ exit: SIGSEGV
#include "signals.h"
#include <sys/wait.h>

static void handler(int s, siginfo_t *i, void *c) { (void)s, (void)i, (void)c, _exit(55); }

int main(void)
{
    for (int kind = 0; kind < 2; kind++) {
        pid_t pid = fork();
        if (!pid) {
            sigset_t set = set_of(SIGFPE, SIGILL);
            if (kind == 0) sigprocmask(SIG_BLOCK, &set, NULL), on_signal(SIGILL, handler, 0);
            if (kind == 1) signal(SIGILL, SIG_IGN);
            __builtin_trap();
        }
        int status;
        CHECK(waitpid(pid, &status, 0) == pid);
        printf("%d %d\n", WIFSIGNALED(status), WTERMSIG(status));
        fflush(stdout);
    }
    sigset_t set = set_of(SIGSEGV, 0);
    on_signal(SIGSEGV, handler, 0);
    sigprocmask(SIG_BLOCK, &set, NULL);
    *(volatile int *)16 = 1;
    return 0;
}
