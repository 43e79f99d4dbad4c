// Stopped and continued from outside, a program sleeps, computes and waits on as if nothing had been.
#include "signals.h"
#include <sys/wait.h>
#include <time.h>

static volatile int continued;
static void on_continue(int s, siginfo_t *i, void *c) { (void)s, (void)i, (void)c, continued++; }

static int child(int kind)
{
    struct timespec rest = {0, 30000000};
    if (kind == 1) on_signal(SIGCONT, on_continue, 0);
    if (kind < 2) return nanosleep(&rest, &rest) == 0 ? 1 : errno == EINTR ? 2 : 3;
    double x = 0;
    for (int i = 1; i < 2000000; i++) x += 1.0 / i;
    return x > 15 ? 4 : 5;
}

int main(void)
{
    for (int kind = 0; kind < 3; kind++) {
        pid_t pid = fork();
        if (!pid) _exit(child(kind));
        int status = 0;
        // The child may be done before it is stopped: then this says nothing, and nothing is asked.
        usleep(5000);
        kill(pid, SIGSTOP);
        CHECK(waitpid(pid, &status, WUNTRACED) == pid);
        if (WIFSTOPPED(status)) {
            CHECK(kill(pid, SIGCONT) == 0 && waitpid(pid, &status, 0) == pid);
            CHECK(WIFEXITED(status));
        }
        int code = WEXITSTATUS(status);
        CHECK(kind == 0 ? code == 1 : kind == 1 ? code == 1 || code == 2 : code == 4);
    }
    puts("went on");
    return 0;
}
