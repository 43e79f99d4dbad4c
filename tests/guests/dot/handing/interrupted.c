// Sums in registers of threads that signals interrupt again and again, whose handlers compute as well.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#define N 8
#define THREADS 3
#define TERMS 600

double x[N] = {0.1, 0.2, 0.3, 0.7, 1.1, 1.3, 1.7, 1.9};
static double sums[THREADS];
static atomic_int handled[THREADS], done;
static _Thread_local int me;
static _Thread_local volatile double aside;

static void handle(int signal)
{
    (void)signal;
    double y = x[0];
    for (int i = 0; i < 100; i++) y = y * 0.7 + x[i % N] / 3;
    aside = y;
    handled[me]++;
}

static void *work(void *number)
{
    me = (int)(long)number;
    double sum = 0;
    for (long i = me; i < TERMS; i += THREADS) {
        sum += x[i % N];
        /* Nothing is called here: the sum stays in its register. */
        while (atomic_load_explicit(&handled[me], memory_order_relaxed) < i / 100) ;
    }
    sums[me] = sum;
    done++;
    while (done < THREADS) sched_yield();
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, 0);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)i);
    while (done < THREADS) {
        for (int i = 0; i < THREADS && done < THREADS; i++) pthread_kill(threads[i], SIGUSR1);
        sched_yield();
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    printf("%.9g\n", sums[0] + sums[1] + sums[2]);
    return 0;
}
