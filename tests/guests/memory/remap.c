// mremap: grow in place and by moving, shrink, to a fixed place over something, keep the contents, DONTUNMAP.
#include "guest.h"
#include <sys/mman.h>

#define PAGE 4096ul
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static char *map(size_t pages)
{
    char *p = (char *)mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    return p;
}

static int readable(char *page)
{
    unsigned char vector;
    return mincore(page, PAGE, &vector) == 0;
}

int main(void)
{
    // In place, into room that is free, and refused where it is not.
    char *p = map(8);
    CHECK(munmap(p + 4 * PAGE, 4 * PAGE) == 0);
    memset(p, 7, 4 * PAGE);
    CHECK(mremap(p, 4 * PAGE, 8 * PAGE, 0) == p && p[4 * PAGE - 1] == 7 && p[7 * PAGE] == 0);
    CHECK(mremap(p, 8 * PAGE, 2 * PAGE, 0) == p && !readable(p + 2 * PAGE));
    CHECK(mmap(p + 2 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 2 * PAGE);
    CHECK_ERRNO(mremap(p, 2 * PAGE, 3 * PAGE, 0), ENOMEM);
    char *moved = (char *)mremap(p, 2 * PAGE, 300 * PAGE, MREMAP_MAYMOVE);
    CHECK(moved != MAP_FAILED && moved != p && !readable(p) && moved[2 * PAGE - 1] == 7 && moved[299 * PAGE] == 0);
    // To a fixed place, over another mapping; only part of a mapping.
    char *target = map(10);
    memset(target, 9, 10 * PAGE);
    moved[5 * PAGE] = 55;
    CHECK(mremap(moved + 4 * PAGE, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, target + 3 * PAGE) == target + 3 * PAGE);
    CHECK(target[4 * PAGE] == 55 && target[0] == 9 && target[7 * PAGE] == 9 && !readable(moved + 4 * PAGE));
    CHECK(readable(moved) && readable(moved + 8 * PAGE));
    // The old place stays, empty.
    char *old = map(4), *other = (char *)mremap((memset(old, 3, 4 * PAGE), old), 4 * PAGE, 4 * PAGE,
                                                MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    CHECK(other != MAP_FAILED && other != old && other[0] == 3 && old[0] == 0);
    // A second view of a shared mapping: old size zero.
    char *shared = (char *)mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *view = (char *)mremap(shared, 0, PAGE, MREMAP_MAYMOVE);
    CHECK(view != MAP_FAILED && view != shared);
    shared[10] = 42;
    CHECK(view[10] == 42);
    // realloc of something large is mremap inside.
    char *block = (char *)malloc(1 << 20);
    for (int i = 0; i < 1 << 20; i++) block[i] = (char)(i * 31);
    block = (char *)realloc(block, 64 << 20);
    for (int i = 0; i < 1 << 20; i++) CHECK(block[i] == (char)(i * 31));
    free(block);
    puts("ok");
    return 0;
}
