// The wait family: statuses of every kind, WNOHANG, WNOWAIT, stopped and continued children, usage.
#include "guest.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static pid_t sleeper(void)
{
    pid_t pid = fork();
    if (!pid)
        for (;;) pause();
    return pid;
}

int main(void)
{
    int status;
    siginfo_t info;
    struct rusage usage;
    signal(SIGHUP, SIG_DFL); // who runs this may have it ignored, as nohup does
    pid_t pid = sleeper();
    CHECK(waitpid(pid, &status, WNOHANG) == 0);
    CHECK(kill(pid, SIGSTOP) == 0 && waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    CHECK(kill(pid, SIGCONT) == 0 && waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status));
    CHECK(kill(pid, SIGTERM) == 0);
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    CHECK(info.si_code == CLD_KILLED && info.si_status == SIGTERM && info.si_pid == pid && info.si_signo == SIGCHLD);
    CHECK(wait4(pid, &status, 0, &usage) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    static const int signals[] = {SIGKILL, SIGSEGV, SIGFPE, SIGHUP, SIGALRM, 34};
    for (int i = 0; i < 6; i++) {
        pid = sleeper();
        CHECK(kill(pid, signals[i]) == 0 && waitpid(pid, &status, 0) == pid);
        printf("%d %d\n", WIFSIGNALED(status), WTERMSIG(status));
    }
    fflush(stdout);
    if (!(pid = fork())) exit(300);
    CHECK(waitpid(pid, &status, 0) == pid);
    printf("%d\n", WEXITSTATUS(status));
    CHECK_ERRNO(waitpid(pid, &status, 0), ECHILD);
    CHECK_ERRNO(waitpid(-1, &status, 0x1000000), EINVAL);
    signal(SIGCHLD, SIG_IGN);
    if (!(pid = fork())) _exit(0);
    CHECK_ERRNO(waitpid(pid, &status, 0), ECHILD); // waits, and finds that nobody is to be told
    return 0;
}
