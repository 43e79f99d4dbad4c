// Condition variables: a bounded queue between producers and consumers, broadcast, and a timed wait.
#include "guest.h"
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int queue[8], count, finished;
static long sum;

static void *produce(void *argument)
{
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&mutex);
        while (count == 8) pthread_cond_wait(&not_full, &mutex);
        queue[count++] = i * (int)(long)argument;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *consume(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (count == 0 && !finished) pthread_cond_wait(&not_empty, &mutex);
        if (count == 0) break;
        sum += queue[--count];
        pthread_cond_signal(&not_full);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t threads[6];
    for (long i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, produce, (void *)(i + 1)) == 0);
    for (int i = 3; i < 6; i++) CHECK(pthread_create(&threads[i], NULL, consume, NULL) == 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    pthread_mutex_lock(&mutex);
    finished = 1;
    pthread_cond_broadcast(&not_empty);
    pthread_mutex_unlock(&mutex);
    for (int i = 3; i < 6; i++) pthread_join(threads[i], NULL);
    printf("%ld\n", sum);
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_nsec += 20000000;
    if (when.tv_nsec >= 1000000000) when.tv_sec++, when.tv_nsec -= 1000000000;
    pthread_mutex_lock(&mutex);
    printf("%d\n", pthread_cond_timedwait(&not_full, &mutex, &when) == ETIMEDOUT);
    return 0;
}
