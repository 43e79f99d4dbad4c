// Signals taken synchronously: sigwait, sigwaitinfo, sigtimedwait, signalfd; and what they leave to handlers.
#include "signals.h"
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>

static volatile int handled;
static void handler(int s, siginfo_t *i, void *c) { (void)s, (void)i, (void)c, handled++; }

static void file_descriptor(const sigset_t *set)
{
    struct signalfd_siginfo got[3];
    int fd = signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_ERRNO(read(fd, got, sizeof got), EAGAIN);
    raise(SIGUSR1);
    CHECK(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 31}) == 0);
    CHECK(read(fd, got, sizeof got) == 2 * sizeof *got);
    printf("signalfd %d %d %d\n", got[0].ssi_signo, got[1].ssi_signo == (unsigned)SIGRTMIN, got[1].ssi_int);
    CHECK(got[0].ssi_pid == (unsigned)getpid());
    close(fd);
}

int main(void)
{
    sigset_t set = set_of(SIGUSR1, SIGRTMIN), pending;
    siginfo_t info;
    int got;
    sigaddset(&set, SIGALRM);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    on_signal(SIGUSR1, handler, 0);
    on_signal(SIGUSR2, handler, 0);
    raise(SIGUSR1);
    CHECK(sigwait(&set, &got) == 0 && got == SIGUSR1 && handled == 0);
    CHECK(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 55}) == 0);
    CHECK(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_value.sival_int == 55 && info.si_code == SI_QUEUE);
    struct timespec short_time = {0, 5000000}, none = {0, 0};
    CHECK_ERRNO(sigtimedwait(&set, &info, &short_time), EAGAIN);
    CHECK_ERRNO(sigtimedwait(&set, &info, &none), EAGAIN);
    struct itimerval timer = {{0, 0}, {0, 2000}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    CHECK(sigwaitinfo(&set, &info) == SIGALRM && info.si_code == SI_KERNEL);
    // A handled signal that is not waited for interrupts.
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    timer_t t;
    struct itimerspec when = {{0, 2000000}, {0, 2000000}};
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &t) == 0 && timer_settime(t, 0, &when, NULL) == 0);
    CHECK_ERRNO(sigwaitinfo(&set, &info), EINTR);
    CHECK(timer_delete(t) == 0 && handled >= 1);
    file_descriptor(&set);
    CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGUSR1));
    puts("ok");
    return 0;
}
