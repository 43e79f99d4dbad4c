// The program break: grows, shrinks, gives zeroed pages, refuses what cannot be, and malloc lives on it.
//@ link: pie nopie static
#include "guest.h"
#include <sys/mman.h>
#include <sys/syscall.h>

static char *raw_brk(void *to) { return (char *)syscall(SYS_brk, to); }

int main(void)
{
    char *start = raw_brk(0);
    CHECK(raw_brk(0) == start);
    CHECK(raw_brk(start + 100000) == start + 100000);
    for (int i = 0; i < 100000; i++) CHECK(start[i] == 0);
    memset(start, 0x5a, 100000);
    CHECK(raw_brk(start + 50001) == start + 50001);
    CHECK(start[50000] == 0x5a);
    CHECK(raw_brk(start + 200000) == start + 200000);
    CHECK(start[50000] == 0x5a);
    // Pages given back are zero when they return.
    long page = 4096;
    char *kept_end = (char *)(((uintptr_t)start + 50001 + page - 1) & -page);
    for (char *p = kept_end; p < start + 200000; p++) CHECK(*p == 0);
    // Below the start and absurd sizes: the break stays.
    CHECK(raw_brk(start - 4096 * 1024) == start + 200000);
    CHECK(raw_brk((void *)0x7fffffffffff0000) == start + 200000);
    CHECK(raw_brk(start) == start);
    // A mapping in the way stops the growth.
    char *page_start = (char *)(((uintptr_t)start + page - 1) & -page);
    char *wall = page_start + 64 * page;
    CHECK(mmap(wall, (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == wall);
    CHECK(raw_brk(page_start + 100 * page) == start);
    CHECK(raw_brk(page_start + 32 * page) == page_start + 32 * page);
    CHECK(munmap(wall, (size_t)page) == 0);
    CHECK(raw_brk(start) == start);
    // sbrk and malloc on top of it.
    char *mine = (char *)sbrk(1 << 20);
    CHECK(mine != (char *)-1);
    memset(mine, 1, 1 << 20);
    void *blocks[200];
    for (int i = 0; i < 200; i++) CHECK((blocks[i] = malloc(1000 + (size_t)i)));
    for (int i = 0; i < 200; i++) free(blocks[i]);
    puts("ok");
    return 0;
}
