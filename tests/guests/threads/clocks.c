// Per-thread CPU clocks, names of other threads, and affinity, scheduling and signals aimed at one thread.
#include "guest.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

static sem_t ready, done;
static volatile sig_atomic_t handled_by;
static __thread int my_number;

static void handler(int signal)
{
    (void)signal;
    handled_by = my_number;
    sem_post(&done);
}

static void *work(void *argument)
{
    struct timespec t;
    my_number = (int)(long)argument;
    volatile unsigned long x = 1;
    do {
        for (int i = 0; i < 10000; i++) x = x * 3 + 1;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while (t.tv_nsec < 5000000 && t.tv_sec == 0);
    sem_post(&ready);
    for (;;) pause();
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    CHECK(sem_init(&ready, 0, 0) == 0 && sem_init(&done, 0, 0) == 0);
    signal(SIGUSR1, handler);
    for (long i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
    for (int i = 0; i < 3; i++) sem_wait(&ready);
    for (int i = 2; i >= 0; i--) {
        clockid_t clock;
        struct timespec t;
        char name[16];
        int policy;
        struct sched_param parameters;
        CHECK(pthread_getcpuclockid(threads[i], &clock) == 0 && clock_gettime(clock, &t) == 0 && (t.tv_nsec >= 5000000 || t.tv_sec));
        CHECK(pthread_setname_np(threads[i], "other") == 0 && pthread_getname_np(threads[i], name, 16) == 0 && !strcmp(name, "other"));
        CHECK(pthread_getschedparam(threads[i], &policy, &parameters) == 0 && policy == SCHED_OTHER);
        CHECK(pthread_kill(threads[i], SIGUSR1) == 0);
        while (sem_wait(&done) && errno == EINTR) continue;
        printf("%d ", (int)handled_by);
    }
    puts("");
    return 0;
}
