// Signals and threads: masks are each thread's own and inherited, a process signal goes to one that takes it.
#include "signals.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t ready, handled;
static __thread int me;
static volatile int by;
static pthread_t workers[3];

static void handler(int s, siginfo_t *i, void *c)
{
    (void)s, (void)i, (void)c;
    by = me;
    sem_post(&handled);
}

static void *work(void *argument)
{
    sigset_t set = set_of(SIGUSR1, 0);
    me = (int)(long)argument;
    CHECK(is_blocked(SIGUSR1) && is_blocked(SIGUSR2)); // inherited
    if (me == 2) pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    sem_post(&ready);
    for (;;) pause();
    return NULL;
}

static void *synchronous(void *unused)
{
    sigset_t set = set_of(SIGUSR2, 0);
    int got;
    (void)unused;
    CHECK(sigwait(&set, &got) == 0);
    return (void *)(long)got;
}

int main(void)
{
    sigset_t set = set_of(SIGUSR1, SIGUSR2), pending;
    CHECK(sem_init(&ready, 0, 0) == 0 && sem_init(&handled, 0, 0) == 0);
    on_signal(SIGUSR1, handler, 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    for (long i = 0; i < 3; i++) CHECK(pthread_create(&workers[i], NULL, work, (void *)(i + 1)) == 0);
    for (int i = 0; i < 3; i++) sem_wait(&ready);
    for (int i = 0; i < 200; i++) {
        CHECK(kill(getpid(), SIGUSR1) == 0);
        CHECK(sem_wait(&handled) == 0 && by == 2);
    }
    // To one that blocks it: pending there, not here.
    CHECK(pthread_kill(workers[0], SIGUSR1) == 0 && sigpending(&pending) == 0 && !sigismember(&pending, SIGUSR1));
    pthread_t waiter;
    void *got;
    CHECK(pthread_create(&waiter, NULL, synchronous, NULL) == 0);
    CHECK(kill(getpid(), SIGUSR2) == 0 && pthread_join(waiter, &got) == 0);
    printf("%d %ld\n", by, (long)got);
    return 0;
}
