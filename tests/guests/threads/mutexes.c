// Mutexes of all kinds, read-write locks, spin locks and semaphores keep a counter exact.
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, recursive, inheriting, checking;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static long counters[6];

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&normal), counters[0]++, pthread_mutex_unlock(&normal);
        pthread_mutex_lock(&recursive), pthread_mutex_lock(&recursive), counters[1]++;
        pthread_mutex_unlock(&recursive), pthread_mutex_unlock(&recursive);
        pthread_mutex_lock(&inheriting), counters[2]++, pthread_mutex_unlock(&inheriting);
        pthread_rwlock_wrlock(&lock), counters[3]++, pthread_rwlock_unlock(&lock);
        pthread_rwlock_rdlock(&lock), counters[3] += counters[3] <= 0, pthread_rwlock_unlock(&lock);
        pthread_spin_lock(&spin), counters[4]++, pthread_spin_unlock(&spin);
        sem_wait(&semaphore), counters[5]++, sem_post(&semaphore);
    }
    return NULL;
}

static void kind(pthread_mutex_t *mutex, int type, int protocol)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    CHECK(pthread_mutex_init(mutex, &attributes) == 0);
}

int main(void)
{
    pthread_t threads[4];
    kind(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE);
    kind(&inheriting, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT);
    kind(&checking, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE);
    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 1);
    CHECK(pthread_mutex_lock(&checking) == 0 && pthread_mutex_lock(&checking) == EDEADLK && pthread_mutex_trylock(&checking) == EBUSY);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < 6; i++) printf("%ld ", counters[i]);
    struct timespec past = {1, 0};
    pthread_mutex_lock(&normal);
    printf("%d\n", pthread_mutex_timedlock(&normal, &past) == ETIMEDOUT);
    return 0;
}
