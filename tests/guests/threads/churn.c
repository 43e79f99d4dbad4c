// Ten thousand threads, one after the other and a few at a time: memory does not grow with their number.
//@ timeout: 120
#include "guest.h"
#include <pthread.h>

static __thread char local[5000];
static long counter;

static void *work(void *argument)
{
    local[(long)argument % 5000] = 1;
    __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
    return argument;
}

static long pages(int which)
{
    long size[2];
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &size[0], &size[1]) == 2);
    fclose(file);
    return size[which];
}

int main(void)
{
    long resident = 0, size = 0;
    for (long round = 0; round < 2500; round++) {
        pthread_t threads[4];
        if (round == 250) resident = pages(1), size = pages(0);
        for (long i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)(round + i)) == 0);
        for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    }
    // 8 MB for 9000 threads: 900 bytes each would already show.
    CHECK(pages(1) < resident + 2048);
    CHECK(pages(0) < size + (256 << 20) / 4096);
    printf("%ld threads\n", counter);
    return 0;
}
