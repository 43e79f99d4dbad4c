// A limit on data is a limit on the program's data.
//@ wrap: ulimit -d 400000; exec "$@"
#include "guest.h"
#include <sys/mman.h>
#include <sys/resource.h>

int main(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_DATA, &limit) == 0);
    printf("%ld\n", (long)limit.rlim_cur);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    char *fits = (char *)mmap(NULL, 200 << 20, PROT_READ | PROT_WRITE, flags, -1, 0);
    CHECK(fits != MAP_FAILED);
    memset(fits, 1, 200 << 20);
    CHECK_ERRNO(mmap(NULL, 250 << 20, PROT_READ | PROT_WRITE, flags, -1, 0), ENOMEM);
    // What cannot be written is no data, nor is what is shared.
    CHECK(mmap(NULL, 250 << 20, PROT_READ, flags, -1, 0) != MAP_FAILED);
    CHECK(mmap(NULL, 250 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    volatile double x = 0.1;
    printf("%.17g\n", x * fits[5]);
    return 0;
}
