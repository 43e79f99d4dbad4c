// Code that one thread changes and others run, handed over with proper synchronisation each time.
#include "jit.h"
#include <pthread.h>

#define ROUNDS 500
static unsigned char *code;
static pthread_barrier_t written, done;
static long sums[3];

static void *run(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&written);
        int unused;
        __asm__ volatile("cpuid" : "=a"(unused) : "a"(0) : "rbx", "rcx", "rdx"); // serialises
        int result = call(code, 1);
        CHECK(result == i + 1);
        sums[(long)argument] += result;
        pthread_barrier_wait(&done);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    code = pages(4096, RWX);
    CHECK(pthread_barrier_init(&written, NULL, 4) == 0 && pthread_barrier_init(&done, NULL, 4) == 0);
    for (long i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, run, (void *)i) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        write_add(code, i);
        pthread_barrier_wait(&written);
        pthread_barrier_wait(&done);
    }
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("%ld %ld %ld\n", sums[0], sums[1], sums[2]);
    return 0;
}
