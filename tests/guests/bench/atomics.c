// Atomic operations of threads' bookkeeping, one kind per run, after a float has been seeded: exchanges, compare-and-swap, counters.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double shift = 0;
static long word, counter;
static int lock;

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "xchg";
    long rounds = argc > 2 ? atol(argv[2]) : 1000, sum = 0;
    double y = 0.5 + shift;
    if (!strcmp(kind, "xchg"))
        for (long i = 0; i < rounds; i++) sum += __atomic_exchange_n(&word, i, __ATOMIC_SEQ_CST);
    else if (!strcmp(kind, "cmpxchg"))
        for (long i = 0; i < rounds; i++) {
            int zero = 0;
            sum += __atomic_compare_exchange_n(&lock, &zero, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
            __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
        }
    else
        for (long i = 0; i < rounds; i++) sum += __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
    printf("%ld %.17g\n", sum, y);
    return 0;
}
