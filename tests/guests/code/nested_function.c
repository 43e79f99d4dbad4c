// Nested functions whose address is taken: trampolines written to an executable stack.
//@ cc: gcc
#include "guest.h"
#include <pthread.h>

static int apply(int (*f)(int), int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += f(i);
    return sum;
}

__attribute__((noinline)) static int use(int factor)
{
    int calls = 0;
    int scaled(int x)
    {
        calls++;
        return factor * x;
    }
    int result = apply(scaled, 10);
    return result + calls;
}

static void *in_thread(void *argument) { return (void *)(long)use((int)(long)argument); }

int main(void)
{
    long sum = 0;
    for (int i = 0; i < 500; i++) sum += use(i);
    // Stacks of threads are executable then too.
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, NULL, in_thread, (void *)3) == 0 && pthread_join(thread, &result) == 0);
    printf("%ld %ld\n", sum, (long)result);
    return 0;
}
