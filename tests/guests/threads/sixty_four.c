// Sixty-four threads at once, all alive together, each with its own numbers.
#include "guest.h"
#include <math.h>
#include <pthread.h>

#define N 64
static pthread_barrier_t together;
static double results[N];

static void *work(void *argument)
{
    long n = (long)argument;
    pthread_barrier_wait(&together);
    double x = (double)n;
    for (int i = 0; i < 3000; i++) x = x * 0.999 + 1.0 / (i + n + 1);
    pthread_barrier_wait(&together);
    results[n] = x;
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    CHECK(pthread_barrier_init(&together, NULL, N) == 0);
    for (long i = 0; i < N; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < N; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < N; i++) printf("%.17g\n", results[i]);
    return 0;
}
