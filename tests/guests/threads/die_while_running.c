// A fatal signal in one thread ends them all, with that signal's status.
//@ exit: SIGSEGV
#include "guest.h"
#include <pthread.h>

static void *spin(void *unused)
{
    volatile long n = 0;
    for (;;) n++;
    return unused;
}
static void *faults(void *unused)
{
    usleep(1000);
    *(volatile int *)unused = 1;
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, spin, NULL) == 0);
    CHECK(pthread_create(&threads[2], NULL, faults, NULL) == 0);
    pthread_join(threads[0], NULL);
    return 0;
}
