// Cancellation: deferred at a cancellation point, asynchronous in a loop without calls, disabled, with cleanup.
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t started, cancelled;
static volatile int cleaned;
static volatile long spins;

static void clean(void *argument) { cleaned += (int)(long)argument; }

static void *deferred(void *unused)
{
    pthread_cleanup_push(clean, (void *)1);
    pthread_cleanup_push(clean, (void *)10);
    sem_post(&started);
    for (;;) pause();
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return unused;
}

static void *asynchronous(void *unused)
{
    int old;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    pthread_cleanup_push(clean, (void *)100);
    sem_post(&started);
    for (;;) spins++;
    pthread_cleanup_pop(1);
    return unused;
}

static void *disabled(void *unused)
{
    int old;
    (void)unused;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    sem_post(&started);
    // Cancellation points, which do nothing now; the second is passed after the cancellation.
    usleep(1000);
    sem_wait(&cancelled);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    cleaned += 1000;
    pthread_testcancel();
    cleaned += 100000;
    return NULL;
}

int main(void)
{
    static void *(*const bodies[])(void *) = {deferred, asynchronous, disabled};
    CHECK(sem_init(&started, 0, 0) == 0 && sem_init(&cancelled, 0, 0) == 0);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, bodies[i], NULL) == 0);
        CHECK(sem_wait(&started) == 0 && pthread_cancel(thread) == 0);
        if (bodies[i] == disabled) CHECK(sem_post(&cancelled) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        printf("%d %d\n", result == PTHREAD_CANCELED, cleaned);
    }
    return 0;
}
