// Threads, mutexes, conditions and once of C11, and its atomics.
//@ libs: -latomic
#include "guest.h"
#include <stdatomic.h>
#include <threads.h>

static atomic_long counter;
static _Atomic double sum;
static mtx_t mutex;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static int initialised, guarded;

static void initialise(void) { initialised++; }

static int work(void *argument)
{
    call_once(&once, initialise);
    tss_set(key, argument);
    for (int i = 0; i < 1000; i++) {
        atomic_fetch_add(&counter, 1);
        sum += 0.5; // a loop of compare and exchange
        mtx_lock(&mutex), guarded++, mtx_unlock(&mutex);
    }
    return tss_get(key) == argument ? 3 : 4;
}

int main(void)
{
    thrd_t threads[5];
    int result, all = 0;
    CHECK(mtx_init(&mutex, mtx_plain) == thrd_success && tss_create(&key, NULL) == thrd_success);
    for (int i = 0; i < 5; i++) CHECK(thrd_create(&threads[i], work, &threads[i]) == thrd_success);
    for (int i = 0; i < 5; i++) {
        CHECK(thrd_join(threads[i], &result) == thrd_success);
        all += result;
    }
    printf("%ld %g %d %d %d\n", atomic_load(&counter), (double)sum, guarded, initialised, all);
    return 0;
}
