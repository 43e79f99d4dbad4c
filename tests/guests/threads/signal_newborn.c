// Signals that faults have, sent to threads that have hardly begun, and to others while threads end.
#include "signals.h"
#include <pthread.h>
#include <semaphore.h>

static const int numbers[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGUSR1};
static volatile int caught, foreign;

static void handler(int s, siginfo_t *info, void *c)
{
    (void)s, (void)c;
    if (info->si_code != SI_TKILL) foreign++;
    __atomic_fetch_add(&caught, 1, __ATOMIC_SEQ_CST);
}

static void *threaded(void *semaphore)
{
    while (sem_wait(semaphore)) CHECK(errno == EINTR);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 6; i++) on_signal(numbers[i], handler, SA_RESTART);
    for (int round = 0; round < 240; round++) {
        pthread_t thread;
        sem_t semaphore;
        CHECK(sem_init(&semaphore, 0, 0) == 0);
        CHECK(pthread_create(&thread, NULL, threaded, &semaphore) == 0);
        for (int i = 0; i < round % 4; i++) sched_yield();
        CHECK(pthread_kill(thread, numbers[round % 6]) == 0);
        while (caught == round) sched_yield();
        CHECK(sem_post(&semaphore) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    printf("caught %d foreign %d\n", caught, foreign);
    return 0;
}
