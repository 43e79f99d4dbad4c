// Two threads with work of their own: square roots and divisions.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long rounds = 1000000;

static void *work(void *result)
{
    double x = 2, sum = 0;
    for (long i = 1; i <= rounds; i++) {
        x = sqrt(x + (double)i) / 1.5 + 1 / x;
        sum += x;
    }
    *(double *)result = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    double results[2];
    if (argc > 1) rounds = atol(argv[1]);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &results[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%.17g %.17g\n", results[0], results[1]);
    return 0;
}
