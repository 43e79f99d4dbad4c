// An address asked for without MAP_FIXED is given when it is free, and another one when it is not.
#include "guest.h"
#include <sys/mman.h>

int main(void)
{
    const size_t size = 1 << 20;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS, prot = PROT_READ | PROT_WRITE;
    char *wish = (char *)0x30000000000;
    char *first = (char *)mmap(wish, size, prot, flags, -1, 0);
    CHECK(first == wish);
    char *second = (char *)mmap(wish, size, prot, flags, -1, 0);
    CHECK(second != MAP_FAILED && (second >= first + size || second + size <= first));
    // A hint in the middle of a page is rounded, one in the kernel's half ignored.
    char *third = (char *)mmap(wish + 2 * size + 5, size, prot, flags, -1, 0);
    CHECK(third == wish + 2 * size || third == wish + 2 * size + 4096);
    char *fourth = (char *)mmap((void *)0xffff800000000000, size, prot, flags, -1, 0);
    CHECK(fourth != MAP_FAILED);
    memset(first, 1, size);
    memset(second, 2, size);
    memset(fourth, 4, size);
    CHECK(first[size - 1] == 1 && second[0] == 2);
    // Sharing the border of a mapping, as allocators do that grow downwards.
    char *below = (char *)mmap(first - size, size, prot, flags, -1, 0);
    CHECK(below == first - size);
    memset(below, 3, 2 * size);
    puts("ok");
    return 0;
}
