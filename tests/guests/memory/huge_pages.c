// Mappings of huge pages: as many as there are, and the same errors where there are none.
#include "guest.h"
#include <sys/mman.h>

static void try(size_t bytes, int flags)
{
    errno = 0;
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | flags, -1, 0);
    int error = errno;
    printf("%d", at == MAP_FAILED ? error : 0);
    if (at != MAP_FAILED) {
        printf(" %d", (int)((uintptr_t)at % (2 << 20)));
        at[0] = at[bytes - 1] = 1;
        CHECK(munmap(at, bytes) == 0);
    }
    puts("");
}

int main(void)
{
    try(2 << 20, 0);
    try(4 << 20, 21 << MAP_HUGE_SHIFT);
    try((size_t)1 << 40, 0);
    try(2 << 20, 13 << MAP_HUGE_SHIFT);
    return 0;
}
