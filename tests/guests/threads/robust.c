// A robust mutex whose owner dies, thread or process, is handed on with EOWNERDEAD.
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static pthread_mutex_t *mutex;

static void *dies_holding(void *unused)
{
    (void)unused;
    CHECK(pthread_mutex_lock(mutex) == 0);
    return NULL;
}

static sem_t held;
static void *dies_later(void *unused)
{
    dies_holding(unused);
    sem_post(&held);
    usleep(3000); // the other one waits by then, or is about to: both must be told
    return NULL;
}

static void take_over(const char *what)
{
    CHECK(pthread_mutex_lock(mutex) == EOWNERDEAD);
    CHECK(pthread_mutex_consistent(mutex) == 0 && pthread_mutex_unlock(mutex) == 0);
    CHECK(pthread_mutex_lock(mutex) == 0 && pthread_mutex_unlock(mutex) == 0);
    puts(what);
    fflush(stdout);
}

int main(void)
{
    pthread_mutexattr_t attributes;
    mutex = (pthread_mutex_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    CHECK(pthread_mutex_init(mutex, &attributes) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, dies_holding, NULL) == 0 && pthread_join(thread, NULL) == 0);
    take_over("thread");
    pid_t pid = fork();
    if (!pid) dies_holding(NULL), _exit(0);
    CHECK(waitpid(pid, NULL, 0) == pid);
    take_over("process exit");
    pid = fork();
    if (!pid) dies_holding(NULL), kill(getpid(), SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid);
    take_over("process killed");
    CHECK(sem_init(&held, 0, 0) == 0 && pthread_create(&thread, NULL, dies_later, NULL) == 0 && sem_wait(&held) == 0);
    take_over("waiting for it");
    CHECK(pthread_join(thread, NULL) == 0);
    void *head;
    size_t size;
    CHECK(syscall(SYS_get_robust_list, 0, &head, &size) == 0 && head && size == 24);
    return 0;
}
