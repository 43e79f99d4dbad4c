// Real-time signals queue up with their values: lower numbers first, each number in order; ordinary ones merge.
#include "signals.h"
#include <sys/syscall.h>

static int log_signal[200], log_value[200];
static volatile int count;
static void handler(int s, siginfo_t *info, void *c)
{
    (void)c;
    log_signal[count] = s, log_value[count] = info->si_value.sival_int;
    CHECK(info->si_pid == getpid() && info->si_uid == getuid() && info->si_code == SI_QUEUE);
    count++;
}

int main(void)
{
    sigset_t all, old;
    sigfillset(&all);
    CHECK(sigprocmask(SIG_SETMASK, &all, &old) == 0);
    for (int i = 0; i < 3; i++) {
        struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
        sigfillset(&action.sa_mask); // one at a time
        CHECK(sigaction(SIGRTMIN + i, &action, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    }
    for (int i = 0; i < 60; i++) CHECK(sigqueue(getpid(), SIGRTMIN + 2 - i % 3, (union sigval){.sival_int = i}) == 0);
    for (int i = 0; i < 5; i++) CHECK(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1000 + i}) == 0);
    CHECK(sigprocmask(SIG_SETMASK, &old, NULL) == 0);
    for (int i = 0; i < count; i++) printf("%s%d:%d%c", log_signal[i] == SIGUSR1 ? "usr" : "rt", log_signal[i] == SIGUSR1 ? 1 : log_signal[i] - SIGRTMIN, log_value[i], i % 10 == 9 ? '\n' : ' ');
    puts("");
    return 0;
}
