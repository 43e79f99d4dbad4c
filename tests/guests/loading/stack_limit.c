// The stack grows down to its limit, which the program sees as it was set, and no further.
//@ wrap: ulimit -s 1024; exec "$@"
//@ exit: SIGSEGV
#include "guest.h"
#include <sys/resource.h>

__attribute__((noinline)) static int deep(int depth)
{
    volatile char room[1000];
    room[0] = (char)depth;
    int below = depth == 0 ? 0 : deep(depth - 1);
    // Keeps the compiler from turning the recursion into a loop.
    __asm__ volatile("" : "+m"(room) : : "memory");
    return below + room[0];
}

int main(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
    printf("%ld\n", (long)limit.rlim_cur);
    // 800 kB fit, 1200 kB do not.
    deep(700);
    puts("fits");
    fflush(stdout);
    printf("%d\n", deep(1200000 / 1000));
    return 0;
}
