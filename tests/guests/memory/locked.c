// mlockall: everything the program has, and will have, can be locked.
#include "guest.h"
#include <sys/mman.h>

int main(void)
{
    CHECK(mlockall(MCL_CURRENT) == 0);
    CHECK(mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
    char *p = (char *)mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    unsigned char vector[256];
    CHECK(mincore(p, 1 << 20, vector) == 0 && (vector[200] & 1));
    CHECK(munlockall() == 0);
    puts("ok");
    return 0;
}
