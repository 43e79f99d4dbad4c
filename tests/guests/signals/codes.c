// si_code and sender of a signal sent by kill, tgkill, raise, sigqueue, to itself and by a child.
#include "signals.h"
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static volatile int code, sender, value;
static void handler(int s, siginfo_t *info, void *c)
{
    (void)s, (void)c;
    code = info->si_code, sender = info->si_pid, value = info->si_value.sival_int;
}

static void show(const char *what, pid_t expected)
{
    printf("%-10s %d %d\n", what, code, sender == expected);
    code = 99;
    fflush(stdout);
}

int main(void)
{
    on_signal(SIGUSR1, handler, 0);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    show("kill", getpid());
    CHECK(raise(SIGUSR1) == 0);
    show("raise", getpid());
    CHECK(syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1) == 0);
    show("tgkill", getpid());
    CHECK(syscall(SYS_tkill, gettid(), SIGUSR1) == 0);
    show("tkill", getpid());
    CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
    show("pthread", getpid());
    CHECK(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 5}) == 0 && value == 5);
    show("sigqueue", getpid());
    CHECK(pthread_sigqueue(pthread_self(), SIGUSR1, (union sigval){.sival_int = 6}) == 0 && value == 6);
    show("to thread", getpid());
    siginfo_t own = {.si_signo = SIGUSR1, .si_code = -77};
    own.si_value.sival_int = 88;
    CHECK(syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &own) == 0 && value == 88);
    show("made up", 0);
    CHECK_ERRNO(kill(getpid(), 65), EINVAL);
    CHECK(kill(getpid(), 0) == 0);
    CHECK_ERRNO(kill(0x3fffffff, SIGUSR1), ESRCH);
    pid_t parent = getpid(), pid = fork();
    if (!pid) {
        kill(parent, SIGUSR1);
        _exit(0);
    }
    CHECK(waitpid(pid, NULL, 0) == pid || errno == EINTR);
    while (code == 99) continue;
    show("child", pid);
    return 0;
}
