// Sums to which threads add in turns, under a lock, by queues or in parts: in whatever order, the real is the same.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define N 8
#define THREADS 3
#define TERMS 600

double x[N] = {0.1, 0.2, 0.3, 0.7, 1.1, 1.3, 1.7, 1.9};
static double sum;

static void wait_a_little(void)
{
    static _Thread_local int waited;
    if (++waited % 2000 == 0) sched_yield();
}

static atomic_int held, turn, head[THREADS], tail[THREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;

static void under_a_spin_lock(long i)
{
    while (atomic_exchange_explicit(&held, 1, memory_order_acquire)) wait_a_little();
    sum += x[i % N];
    atomic_store_explicit(&held, 0, memory_order_release);
}

static void in_turns(long i)
{
    while (atomic_load_explicit(&turn, memory_order_acquire) != i) wait_a_little();
    sum += x[i % N];
    atomic_store_explicit(&turn, i + 1, memory_order_release);
}

static void under_a_mutex(long i)
{
    pthread_mutex_lock(&mutex);
    sum += x[i % N];
    pthread_mutex_unlock(&mutex);
}

static void on_condition(long i)
{
    pthread_mutex_lock(&mutex);
    while (turn != i) pthread_cond_wait(&changed, &mutex);
    sum += x[i % N];
    turn = i + 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void past_a_barrier(long i)
{
    for (int k = 0; k < THREADS; k++) {
        if (i % THREADS == k) sum += x[i % N];
        pthread_barrier_wait(&barrier);
    }
}

/* Queues of one writer and one reader each. */
enum { ROOM = 16 };
static double ring[THREADS][ROOM];

static void put(long q, double value)
{
    int at = atomic_load_explicit(&tail[q], memory_order_relaxed);
    while (at - atomic_load_explicit(&head[q], memory_order_acquire) == ROOM) wait_a_little();
    ring[q][at % ROOM] = value;
    atomic_store_explicit(&tail[q], at + 1, memory_order_release);
}

static double get(long q)
{
    int at = atomic_load_explicit(&head[q], memory_order_relaxed);
    while (at == atomic_load_explicit(&tail[q], memory_order_acquire)) wait_a_little();
    double value = ring[q][at % ROOM];
    atomic_store_explicit(&head[q], at + 1, memory_order_release);
    return value;
}

static void by_queues(long i)
{
    long own = i % THREADS;
    double value = (own == 0 ? 0 : get(own)) + x[i % N];
    if (own == THREADS - 1) sum += value;
    else put(own + 1, value);
}

static void critical(void)
{
#pragma omp parallel for num_threads(THREADS) schedule(static, 1)
    for (int i = 0; i < TERMS; i++) {
#pragma omp critical
        sum += x[i % N];
    }
}

static void added_atomically(void)
{
#pragma omp parallel for num_threads(THREADS)
    for (int i = 0; i < TERMS; i++) {
#pragma omp atomic
        sum += x[i % N];
    }
}

static void reduced(void)
{
#pragma omp parallel for num_threads(THREADS) reduction(+ : sum)
    for (int i = 0; i < TERMS; i++) sum += x[i % N];
}

static void (*add)(long);

static void *work(void *me)
{
    for (long i = (long)me; i < TERMS; i += THREADS) add(i);
    return 0;
}

static const struct { const char *name; void (*add)(long); void (*all)(void); } ways[] = {
    {"spin-lock", under_a_spin_lock, 0}, {"turns", in_turns, 0}, {"mutex", under_a_mutex, 0},
    {"condition", on_condition, 0}, {"barrier", past_a_barrier, 0}, {"queues", by_queues, 0},
    {"omp-critical", 0, critical}, {"omp-atomic", 0, added_atomically}, {"omp-reduction", 0, reduced},
};

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, 0, THREADS);
    for (unsigned n = 0; n < sizeof ways / sizeof *ways && argc > 1; n++) {
        if (strcmp(argv[1], ways[n].name) != 0) continue;
        if (ways[n].all) ways[n].all();
        add = ways[n].add;
        for (long i = 0; i < THREADS && add; i++) pthread_create(&threads[i], 0, work, (void *)i);
        for (int i = 0; i < THREADS && add; i++) pthread_join(threads[i], 0);
    }
    printf("%.9g\n", sum);
    return 0;
}
