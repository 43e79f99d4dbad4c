// exec from a thread that is not the first: all others vanish, the process keeps its pid.
#include "guest.h"
#include <pthread.h>

static char *self;

static void *spin(void *unused)
{
    volatile long n = 0;
    (void)unused;
    for (;;) n++;
}

static void *execs(void *unused)
{
    char pid[20];
    snprintf(pid, sizeof pid, "%d", getpid());
    char *args[] = {self, pid, NULL};
    execv(self, args);
    CHECK(!"exec");
    return unused;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        CHECK(getpid() == atoi(argv[1]) && gettid() == getpid());
        puts("same process");
        return 0;
    }
    pthread_t threads[3];
    self = argv[0];
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, spin, NULL) == 0);
    CHECK(pthread_create(&threads[2], NULL, execs, NULL) == 0);
    pthread_join(threads[2], NULL);
    return 1;
}
