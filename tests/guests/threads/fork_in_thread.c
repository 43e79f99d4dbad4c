// fork from a thread while others run: the child has that one thread, its locals and its TLS, and can make threads.
#include "guest.h"
#include <pthread.h>
#include <sys/wait.h>

static volatile int stop;
static __thread int local;
static int prepared, in_parent, in_child;

static void prepare(void) { prepared++; }
static void parent(void) { in_parent++; }
static void child(void) { in_child++; }

static void *spin(void *unused)
{
    void *p = NULL;
    while (!stop) free(p), p = malloc(100), memset(p, 1, 100);
    free(p);
    return unused;
}

static void *add_one(void *argument)
{
    ++*(int *)argument;
    return NULL;
}

static void *forks(void *unused)
{
    local = 42;
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();
        if (!pid) {
            pthread_t thread;
            int value = i;
            CHECK(local == 42 && getpid() == gettid());
            char *p = (char *)malloc(1 << 16);
            memset(p, i, 1 << 16);
            CHECK(pthread_create(&thread, NULL, add_one, &value) == 0 && pthread_join(thread, NULL) == 0);
            _exit(value == i + 1 && in_child == 1 ? 50 + i : 1);
        }
        int status;
        CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 50 + i);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    CHECK(pthread_atfork(prepare, parent, child) == 0);
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, spin, NULL) == 0);
    CHECK(pthread_create(&threads[3], NULL, forks, NULL) == 0 && pthread_join(threads[3], NULL) == 0);
    stop = 1;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("%d %d %d\n", prepared, in_parent, in_child);
    return 0;
}
