// setitimer: real, virtual and profiling timers fire again and again, are read back, and are not inherited by fork.
#include "signals.h"
#include <sys/time.h>
#include <sys/wait.h>

static volatile int count[3];
static void handler(int s, siginfo_t *i, void *c)
{
    (void)i, (void)c;
    count[s == SIGALRM ? 0 : s == SIGVTALRM ? 1 : 2]++;
}

int main(void)
{
    struct itimerval timer = {{0, 2000}, {0, 2000}}, stop = {{0, 0}, {0, 0}}, now;
    on_signal(SIGALRM, handler, SA_RESTART);
    on_signal(SIGVTALRM, handler, SA_RESTART);
    on_signal(SIGPROF, handler, SA_RESTART);
    for (int which = 0; which < 3; which++) {
        CHECK(setitimer(which, &timer, NULL) == 0);
        volatile double x = 1;
        while (count[which] < 5) x = x * 1.0001;
        CHECK(getitimer(which, &now) == 0 && now.it_interval.tv_usec >= 2000);
        CHECK(setitimer(which, &stop, NULL) == 0);
        puts("five");
    }
    fflush(stdout);
    struct itimerval far = {{0, 0}, {1000, 0}};
    CHECK(setitimer(ITIMER_REAL, &far, NULL) == 0);
    pid_t pid = fork();
    if (!pid) _exit(getitimer(ITIMER_REAL, &now) != 0 || now.it_value.tv_sec != 0);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(alarm(5) == 1000 && alarm(0) == 5);
    return 0;
}
