// Calls and tail calls through registers, memory, tables and returned pointers.
#include "guest.h"

typedef long (*operation)(long);
struct object {
    int tag;
    operation first, second;
};

static long increment(long x) { return x + 1; }
static long twice(long x) { return 2 * x; }
static long square(long x) { return x * x % 65521; }
static operation volatile table[3] = {increment, twice, square};
static operation choose(long x) { return table[x % 3]; }

__attribute__((noinline)) static long tail(struct object *object, long x)
{
    return x & 1 ? object->first(x) : object->second(x + 3);
}

static int compare(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

int main(void)
{
    struct object object = {1, twice, square};
    long x = 1;
    for (int i = 0; i < 30000; i++) {
        x = choose(x)(x) % 1000003;
        x = tail(&object, x);
        if (i % 7000 == 0) object.first = table[i % 3];
    }
    static int numbers[5000];
    uint64_t state = 9;
    for (int i = 0; i < 5000; i++) numbers[i] = (int)next_random(&state);
    qsort(numbers, 5000, sizeof *numbers, compare);
    for (int i = 1; i < 5000; i++) CHECK(numbers[i - 1] <= numbers[i]);
    printf("%ld %d %d\n", x, numbers[0], numbers[4999]);
    return 0;
}
