// A child in the parent's memory is killed while it runs, and nobody waits for it: the parent ends all the same.
#define _GNU_SOURCE
#include "guest.h"
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

static char stack[64 << 10] __attribute__((aligned(16)));
static volatile int runs;

static int run(void *unused)
{
    (void)unused;
    for (;;) runs = 1;
}

int main(void)
{
    pid_t child = clone(run, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
    CHECK(child > 0);
    while (!runs) {}
    CHECK(kill(child, SIGKILL) == 0);
    // It has ended, and stays a zombie.
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0 && info.si_status == SIGKILL);
    puts("ok");
    return 0;
}
