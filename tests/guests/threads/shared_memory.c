// Synchronisation between processes over shared memory: a semaphore, a mutex, a barrier and a bare futex.
#include "guest.h"
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct shared {
    sem_t semaphore;
    pthread_mutex_t mutex;
    pthread_barrier_t barrier;
    int turn, counter;
};

int main(void)
{
    struct shared *s = (struct shared *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t mutex;
    pthread_barrierattr_t barrier;
    pthread_mutexattr_init(&mutex), pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_barrierattr_init(&barrier), pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    CHECK(sem_init(&s->semaphore, 1, 0) == 0 && pthread_mutex_init(&s->mutex, &mutex) == 0 && pthread_barrier_init(&s->barrier, &barrier, 3) == 0);
    for (int me = 1; me < 3; me++)
        if (!fork()) {
            pthread_barrier_wait(&s->barrier);
            for (int i = 0; i < 1000; i++) {
                pthread_mutex_lock(&s->mutex), s->counter++, pthread_mutex_unlock(&s->mutex);
                // Turn about, by futex.
                int turn;
                while ((turn = __atomic_load_n(&s->turn, __ATOMIC_SEQ_CST)) % 2 != me - 1) syscall(SYS_futex, &s->turn, FUTEX_WAIT, turn, NULL, NULL, 0);
                __atomic_fetch_add(&s->turn, 1, __ATOMIC_SEQ_CST);
                syscall(SYS_futex, &s->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
            }
            sem_post(&s->semaphore);
            _exit(0);
        }
    pthread_barrier_wait(&s->barrier);
    for (int i = 0; i < 2; i++) CHECK(sem_wait(&s->semaphore) == 0);
    for (int i = 0; i < 2; i++) CHECK(wait(NULL) > 0);
    printf("%d %d\n", s->turn, s->counter);
    return 0;
}
