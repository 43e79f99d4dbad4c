// timer_create: signals with values, a thread as notification, one thread as the target, overruns, no notification.
#include "signals.h"
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static volatile int fired, value, code, first_overrun;
static sem_t called;

static void handler(int s, siginfo_t *info, void *c)
{
    (void)s, (void)c;
    value = info->si_value.sival_int, code = info->si_code;
    if (!fired++) first_overrun = info->si_overrun;
}
static void notify(union sigval v)
{
    value = v.sival_int;
    sem_post(&called);
}

static timer_t start(struct sigevent *event, long interval)
{
    timer_t timer;
    struct itimerspec when = {{0, interval}, {0, 1000000}};
    CHECK(timer_create(CLOCK_MONOTONIC, event, &timer) == 0 && timer_settime(timer, 0, &when, NULL) == 0);
    return timer;
}

int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3, .sigev_value = {.sival_int = 1234}};
    on_signal(SIGRTMIN + 3, handler, 0);
    timer_t timer = start(&event, 1000000);
    while (fired < 5) usleep(200);
    CHECK(timer_delete(timer) == 0);
    printf("%d %d\n", value, code == SI_TIMER);
    // Blocked for a while: one signal, the others are counted as overruns.
    sigset_t set = set_of(SIGRTMIN + 3, 0);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    timer = start(&event, 1000000);
    usleep(20000);
    fired = 0;
    CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
    CHECK(fired >= 1 && first_overrun >= 1 && timer_getoverrun(timer) >= 0);
    CHECK(timer_delete(timer) == 0);
    event = (struct sigevent){.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 3, .sigev_value = {.sival_int = 77}};
    event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
    fired = 0;
    timer = start(&event, 0);
    while (!fired) usleep(200);
    printf("%d\n", value);
    CHECK(timer_delete(timer) == 0 && sem_init(&called, 0, 0) == 0);
    event = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_value = {.sival_int = 99}};
    event.sigev_notify_function = notify;
    timer = start(&event, 1000000);
    for (int i = 0; i < 3; i++) CHECK(sem_wait(&called) == 0);
    printf("%d\n", value);
    CHECK(timer_delete(timer) == 0);
    return 0;
}
