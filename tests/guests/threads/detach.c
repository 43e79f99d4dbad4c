// Detached threads finish on their own; pthread_exit of the main thread leaves the others running.
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t done;
static pthread_t main_thread;

static void *work(void *argument)
{
    (void)argument;
    CHECK(sem_post(&done) == 0);
    return NULL;
}

static void *last(void *argument)
{
    (void)argument;
    // The main thread can be joined after its pthread_exit.
    void *result;
    CHECK(pthread_join(main_thread, &result) == 0 && result == (void *)77);
    puts("the last thread ends the program");
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    main_thread = pthread_self();
    CHECK(sem_init(&done, 0, 0) == 0);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 200; i++) CHECK(pthread_create(&thread, i % 2 ? &attributes : NULL, work, NULL) == 0 && (i % 2 || pthread_detach(thread) == 0));
    for (int i = 0; i < 200; i++) CHECK(sem_wait(&done) == 0);
    CHECK(pthread_create(&thread, NULL, last, NULL) == 0);
    pthread_exit((void *)77);
}
