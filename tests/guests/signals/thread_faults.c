// Threads that fault, divide by zero and throw at the same time each get their own signal, on their own stack.
#include "signals.h"
#include <pthread.h>
#include <setjmp.h>

static __thread sigjmp_buf back;
static __thread char *alternate;
static __thread int seen;

static void handler(int s, siginfo_t *info, void *c)
{
    char here;
    (void)info, (void)c;
    CHECK(&here >= alternate && &here < alternate + 65536);
    seen++;
    siglongjmp(back, s);
}

static void *work(void *argument)
{
    stack_t want = {.ss_sp = alternate = (char *)malloc(65536), .ss_size = 65536};
    CHECK(sigaltstack(&want, NULL) == 0);
    for (volatile int i = 0; i < 500; i++) {
        int s = sigsetjmp(back, 1);
        if (s) continue;
        if ((i + (long)argument) % 2) *(volatile char *)(8 * (long)argument) = 1;
        else __asm__ volatile("xor %%ecx, %%ecx\n xor %%edx, %%edx\n div %%ecx" : : : "rax", "rcx", "rdx", "cc");
    }
    stack_t off = {.ss_flags = SS_DISABLE};
    CHECK(sigaltstack(&off, NULL) == 0);
    free(alternate);
    return (void *)(long)seen;
}

int main(void)
{
    pthread_t threads[6];
    on_signal(SIGSEGV, handler, SA_ONSTACK);
    on_signal(SIGFPE, handler, SA_ONSTACK);
    for (long i = 0; i < 6; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < 6; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0);
        printf("%ld ", (long)result);
    }
    puts("");
    return 0;
}
