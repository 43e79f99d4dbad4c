// A limit on the address space (RLIMIT_AS) set by the program stops it from mapping more; what fits is given.
#include "guest.h"
#include <sys/mman.h>
#include <sys/resource.h>

int main(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    printf("%d\n", limit.rlim_cur == RLIM_INFINITY);
    limit.rlim_cur = 1ul << 30;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == 1ul << 30);
    CHECK_ERRNO(mmap(NULL, 2ul << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), ENOMEM);
    void *volatile small = malloc(1 << 20);
    CHECK(small);
    free(small);
    puts("refused");
    return 0;
}
