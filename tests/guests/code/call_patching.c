// Calls and jumps patched while threads run through them: inline caches and invalidation points of a JIT.
#include "jit.h"
#include <pthread.h>
#include <stdatomic.h>

static unsigned char *code;
static atomic_int stop, ready;
static atomic_long calls;

// At 0: call rel32, aligned so that the displacement lies within eight bytes; ret. Targets at 64 and 128.
static void *run(void *unused)
{
    (void)unused;
    ready++;
    while (!stop) {
        int result = call(code + 3, 0);
        CHECK(result == 1 || result == 2);
        calls++;
    }
    return NULL;
}

static void aim(int target)
{
    int displacement = target - 8;
    atomic_store_explicit((atomic_int *)(void *)(code + 4), displacement, memory_order_release);
}

int main(void)
{
    pthread_t threads[2];
    code = pages(4096, RWX);
    memset(code, 0x90, 4096);
    code[3] = 0xe8, code[8] = 0xc3;
    write_add(code + 64, 1);
    write_add(code + 128, 2);
    aim(64);
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, run, NULL) == 0);
    while (ready < 2) usleep(100);
    for (int i = 0; i < 200; i++) {
        aim(i % 2 ? 64 : 128);
        // The thread that patches sees its own patch at once.
        CHECK(call(code + 3, 0) == (i % 2 ? 1 : 2));
        long before = calls;
        while (calls < before + 4) usleep(10);
    }
    stop = 1;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
