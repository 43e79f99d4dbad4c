// Threads with a barrier, a mutex and a condition, each of which computes with what the others have made.
#define N 12
double x[N] = {0.3, 1.2, -0.7, 0.5, 1.9, -1.1, 0.8, 0.2, 1.4, -0.4, 0.6, 0.9};
#include "moved.h"
#include <math.h>
#include <pthread.h>

#define THREADS 3
static double made[2][N], total, handed;
static int is_there;
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;

static void *work(void *number)
{
    long me = (long)number;
    for (int s = 0; s < 5; s++) {
        const double *from = s == 0 ? x : made[(s + 1) % 2];
        for (int i = (int)me; i < N; i += THREADS) made[s % 2][i] = from[i] * cos(from[(i + 1) % N]);
        pthread_barrier_wait(&barrier);
    }
    pthread_mutex_lock(&lock);
    if (me == 0) {
        handed = made[0][0] * made[0][1];
        is_there = 1;
        pthread_cond_broadcast(&came);
    }
    while (!is_there) pthread_cond_wait(&came, &lock);
    total += handed * made[0][me];
    pthread_mutex_unlock(&lock);
    return 0;
}

static void compute(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, 0, THREADS);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    printf("%.12g %.17g\n", total, made[0][7]);
}
