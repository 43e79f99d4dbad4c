// SIGCHLD: code, pid and status of children that exit, are killed, stop and continue; SA_NOCLDSTOP and SA_NOCLDWAIT.
#include "signals.h"
#include <sys/wait.h>

static volatile int count, code, status;
static volatile pid_t who;
static void handler(int s, siginfo_t *info, void *c)
{
    (void)s, (void)c;
    who = info->si_pid, code = info->si_code, status = info->si_status;
    count++;
}

static void expect(pid_t pid, int expected_code, int expected_status)
{
    sigset_t none;
    sigemptyset(&none);
    while (!count) sigsuspend(&none);
    count = 0;
    CHECK(who == pid && code == expected_code && status == expected_status);
}

static pid_t child(int status_wanted)
{
    pid_t pid = fork();
    if (pid) return pid;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (status_wanted < 0)
        for (;;) pause();
    _exit(status_wanted);
}

int main(void)
{
    sigset_t set = set_of(SIGCHLD, 0);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    on_signal(SIGCHLD, handler, 0);
    pid_t pid = child(33);
    expect(pid, CLD_EXITED, 33);
    CHECK(waitpid(pid, NULL, 0) == pid);
    pid = child(-1);
    CHECK(kill(pid, SIGSTOP) == 0);
    expect(pid, CLD_STOPPED, SIGSTOP);
    CHECK(kill(pid, SIGCONT) == 0);
    expect(pid, CLD_CONTINUED, SIGCONT);
    CHECK(kill(pid, SIGKILL) == 0);
    expect(pid, CLD_KILLED, SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid);
    on_signal(SIGCHLD, handler, SA_NOCLDSTOP | SA_NOCLDWAIT);
    pid = child(-1);
    CHECK(kill(pid, SIGSTOP) == 0 && kill(pid, SIGKILL) == 0);
    expect(pid, CLD_KILLED, SIGKILL);
    CHECK_ERRNO(waitpid(pid, NULL, 0), ECHILD);
    // Many at once: none is lost, since each is waited for.
    on_signal(SIGCHLD, handler, 0);
    for (int i = 0; i < 50; i++) child(i);
    int reaped = 0;
    sigset_t none;
    sigemptyset(&none);
    while (reaped < 50) {
        sigsuspend(&none);
        while (waitpid(-1, NULL, WNOHANG) > 0) reaped++;
    }
    printf("%d\n", reaped);
    return 0;
}
