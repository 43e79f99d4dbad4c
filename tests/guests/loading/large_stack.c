// The stack grows on demand to several megabytes, in large steps, and its pages are zero.
//@ link: pie static
#include "guest.h"

__attribute__((noinline)) static long use(size_t size)
{
    volatile char *room = (volatile char *)__builtin_alloca(size);
    long sum = 0;
    for (size_t i = 0; i < size; i += 4096) sum += room[size - 1 - i] != 0;
    room[0] = 1;
    return sum + room[0];
}

int main(void)
{
    CHECK(use(4 << 20) == 1);
    CHECK(use(7 << 20) <= 1 + 1024);
    puts("ok");
    return 0;
}
