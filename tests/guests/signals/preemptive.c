// Threads of the program's own making: a timer's handler swaps contexts, so that each runs for a slice in turn.
#include "signals.h"
#include <sys/time.h>

#define TASKS 3
static ucontext_t task[TASKS], scheduler;
static char stack[TASKS][131072] __attribute__((aligned(64)));
static volatile int current, switches, finished[TASKS];
static double results[TASKS];

static void slice(int s, siginfo_t *i, void *c)
{
    (void)s, (void)i, (void)c;
    switches++;
    CHECK(swapcontext(&task[current], &scheduler) == 0);
}

static void work(int id)
{
    double x = id + 1;
    sigset_t set = set_of(SIGALRM, 0);
    CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
    for (int k = 1; k < 3000000; k++) x += 1.0 / (k * (double)(id + 1));
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    results[id] = x;
    finished[id] = 1;
}

int main(void)
{
    struct itimerval timer = {{0, 1000}, {0, 1000}}, stop = {{0, 0}, {0, 0}};
    on_signal(SIGALRM, slice, SA_RESTART);
    // swapcontext sets the mask first and the stack later. So the signal is let in by the tasks themselves only: their
    // contexts, saved here and in the handler, have it blocked.
    sigset_t set = set_of(SIGALRM, 0);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    for (int id = 0; id < TASKS; id++) {
        CHECK(getcontext(&task[id]) == 0);
        task[id].uc_stack.ss_sp = stack[id];
        task[id].uc_stack.ss_size = sizeof stack[id];
        task[id].uc_link = &scheduler;
        makecontext(&task[id], (void (*)(void))work, 1, id);
    }
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    for (int left = TASKS; left;) {
        left = 0;
        for (int id = 0; id < TASKS; id++) {
            if (finished[id]) continue;
            left++;
            current = id;
            CHECK(swapcontext(&scheduler, &task[id]) == 0);
        }
    }
    CHECK(setitimer(ITIMER_REAL, &stop, NULL) == 0);
    for (int id = 0; id < TASKS; id++) printf("%.17g\n", results[id]);
    CHECK(switches > 3);
    return 0;
}
