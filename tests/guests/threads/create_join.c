// Threads are created, run in parallel with the others, and give their results back on join.
//@ link: pie static
#include "guest.h"
#include <pthread.h>

static void *square(void *argument)
{
    long n = (long)argument, sum = 0;
    for (long i = 0; i < 20000; i++) sum += (i * n) % 7;
    return (void *)(n * n + sum);
}

int main(void)
{
    pthread_t threads[16];
    long total = 0;
    for (int round = 0; round < 10; round++) {
        for (long i = 0; i < 16; i++) CHECK(pthread_create(&threads[i], NULL, square, (void *)i) == 0);
        for (int i = 0; i < 16; i++) {
            void *result;
            CHECK(pthread_join(threads[i], &result) == 0);
            total += (long)result;
        }
    }
    printf("%ld\n", total);
    return 0;
}
