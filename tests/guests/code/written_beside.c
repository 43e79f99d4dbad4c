// Two threads write beside code that two others run and, as it may have changed, translate again.
// All writes succeed, though the page they go to is protected whenever code is made from it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGES 10000
#define ROUNDS 40

static uint8_t *code;
static atomic_int current, done;
static pthread_barrier_t begun;

static void *write_beside(void *argument)
{
    long which = (long)argument;
    int page;
    pthread_barrier_wait(&begun);
    while ((page = atomic_load(&current)) < PAGES)
        for (int i = 0; i < 4; i++) ((volatile uint64_t *)(code + 4096L * page))[256 + which] += 1;
    return NULL;
}

static void *run(void *argument)
{
    long sum = ((int (*)(void))code)();
    int page;
    pthread_barrier_wait(&begun);
    while ((page = atomic_load(&current)) < PAGES) sum += ((int (*)(void))(code + 4096L * page))();
    atomic_fetch_add(&done, sum > 0);
    return argument;
}

int main(void)
{
    static const uint8_t two[] = {0xb8, 2, 0, 0, 0, 0xc3};
    code = mmap(NULL, 4096L * (PAGES + 1), PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int page = 0; page <= PAGES; page++) memcpy(code + 4096L * page, two, sizeof two);
    pthread_t threads[3];
    pthread_barrier_init(&begun, NULL, 4);
    pthread_create(&threads[0], NULL, write_beside, (void *)0);
    pthread_create(&threads[1], NULL, write_beside, (void *)1);
    pthread_create(&threads[2], NULL, run, NULL);
    pthread_barrier_wait(&begun);
    for (int page = 0; page < PAGES; page++) {
        for (int i = 0; i < ROUNDS; i++) ((int (*)(void))(code + 4096L * page))();
        atomic_fetch_add(&current, 1);
    }
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("%d\n", done);
    return 0;
}
