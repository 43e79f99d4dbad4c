// A sum to which two threads add in turns, and seldom call the kernel: each reads what the other has just written.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define N 8
#define TERMS 600
#define SPINS 50000

double x[N] = {0.1, 0.2, 0.3, 0.7, 1.1, 1.3, 1.7, 1.9};
static double sum;
static atomic_int turn;

static void *add(void *first)
{
    for (int i = (int)(long)first; i < TERMS; i += 2) {
        for (int spins = 1; atomic_load_explicit(&turn, memory_order_acquire) != i; spins++) {
            if (spins % SPINS == 0) sched_yield();
            else __builtin_ia32_pause();
        }
        sum += x[i % N];
        atomic_store_explicit(&turn, i + 1, memory_order_release);
    }
    return 0;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, add, (void *)1);
    add(0);
    pthread_join(other, 0);
    printf("%.9g\n", sum);
    return 0;
}
