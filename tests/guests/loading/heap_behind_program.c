// The heap of a program linked at fixed addresses begins right behind its last segment, and has room to grow there.
// Old Lisps, Maxima's among them, keep their image in it.
//@ link: nopie static
#include "guest.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>

extern char end[];

int main(int argc, char **argv)
{
    const long page = 4096, step = 8 << 20, most = 256 << 20;
    if (argc == 1 && personality(ADDR_NO_RANDOMIZE) != -1) {
        char *again[] = {argv[0], "again", NULL};
        execv("/proc/self/exe", again);
    }
    // A C library linked statically has had some of it by now; at random the kernel puts it within a gigabyte.
    long room = argc == 1 ? 1L << 30 : 1L << 20;
    char *start = (char *)sbrk(0);
    CHECK(start >= end && start - end <= room);
    // What is to have an address of 31 bits does not stand in its way.
    CHECK(mmap(NULL, (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0) != MAP_FAILED);
    for (long grown = 0; grown < most; grown += step) {
        char *more = (char *)sbrk(step);
        CHECK(more == start + grown);
        more[step - 1] = 1;
    }
    CHECK(brk(start) == 0);
    puts("ok");
    return 0;
}
