// exit from one thread while others compute, sleep, wait for a lock and read: the status is that of the exit.
//@ exit: 23
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t started;
static int pipes[2];

static void *spin(void *unused)
{
    volatile double x = 1;
    sem_post(&started);
    for (;;) x = x * 1.0000001;
    return unused;
}
static void *sleeps(void *unused) { return sem_post(&started), sleep(1000), unused; }
static void *locks(void *unused) { return sem_post(&started), pthread_mutex_lock(&mutex), unused; }
static void *reads(void *unused)
{
    char byte;
    sem_post(&started);
    CHECK(read(pipes[0], &byte, 1) == 1);
    return unused;
}
static void *exits(void *unused)
{
    for (int i = 0; i < 5; i++) sem_wait(&started);
    exit(23);
    return unused;
}

int main(void)
{
    static void *(*const bodies[])(void *) = {spin, spin, sleeps, locks, reads, exits};
    pthread_t thread;
    setvbuf(stdout, NULL, _IOFBF, 1000);
    puts("flushed by exit");
    CHECK(pipe(pipes) == 0 && sem_init(&started, 0, 0) == 0);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 6; i++) CHECK(pthread_create(&thread, NULL, bodies[i], NULL) == 0);
    pthread_join(thread, NULL);
    return 1;
}
