// Sums under a lock by exchanges, while exchanges in memory that may not be written fault and are left by jumps.
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#define N 8
#define THREADS 3
#define TERMS 600

double x[N] = {0.1, 0.2, 0.3, 0.7, 1.1, 1.3, 1.7, 1.9};
static double sum;
static int lock, *readonly;
static _Thread_local sigjmp_buf back;

static void handle(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static void fault(long i)
{
    int zero = 0;
    if (sigsetjmp(back, 1)) return;
    if (i & 1) __atomic_exchange_n(readonly, 1, __ATOMIC_SEQ_CST);
    else __atomic_compare_exchange_n(readonly, &zero, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    puts("no fault");
}

static void *work(void *number)
{
    for (long i = (long)number; i < TERMS; i += THREADS) {
        fault(i);
        while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
        sum += x[i % N];
        __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    }
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    readonly = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, handle);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    printf("%.9g\n", sum);
    return 0;
}
