// Counters, a lock-free stack with cmpxchg16b and floating-point sums stay exact under contention.
//@ flags: -mcx16
//@ needs: cx16
//@ libs: -latomic
#include "guest.h"
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 4
#define ROUNDS 5000
static atomic_long added, flags;
static long xadded, incremented;
static double float_sum;
struct node { struct node *next; long value; };
static struct { struct node *top; unsigned long version; } stack __attribute__((aligned(16)));
static struct node nodes[THREADS * ROUNDS];

static void push(struct node *node)
{
    unsigned long version = stack.version;
    struct node *top = stack.top;
    unsigned char done;
    do {
        node->next = top;
        __asm__ volatile("lock cmpxchg16b %1\n sete %0" : "=q"(done), "+m"(stack), "+a"(top), "+d"(version)
                         : "b"(node), "c"(version + 1) : "cc", "memory");
    } while (!done);
}

static void *work(void *argument)
{
    long me = (long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&added, 3);
        atomic_fetch_xor(&flags, 1l << (me + 4 * (i % 8)));
        long two = 2;
        __asm__ volatile("lock xaddq %0, %1" : "+r"(two), "+m"(xadded) : : "cc");
        __asm__ volatile("lock incq %0" : "+m"(incremented) : : "cc");
        double old, next;
        __atomic_load(&float_sum, &old, __ATOMIC_RELAXED);
        do next = old + 0.25;
        while (!__atomic_compare_exchange(&float_sum, &old, &next, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
        struct node *node = &nodes[me * ROUNDS + i];
        node->value = i;
        push(node);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    long count = 0, sum = 0;
    for (struct node *n = stack.top; n; n = n->next) count++, sum += n->value;
    printf("%ld %ld %ld %g %ld %lx %ld %lu\n", added, xadded, incremented, float_sum, count, (long)flags, sum, stack.version);
    return 0;
}
