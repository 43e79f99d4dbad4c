// Addresses between 1 and 2 GB that a program insists on, as Lisp systems do: by a hint, with MAP_32BIT, and fixed.
#include "guest.h"
#include <sys/mman.h>

enum { PROT = PROT_READ | PROT_WRITE, ANON = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, PAGE = 4096 };

static char *at(unsigned long address, size_t size, int flags)
{
    char *p = (char *)mmap((void *)address, size, PROT, ANON | flags, -1, 0);
    CHECK(p == (char *)address);
    for (size_t i = 0; i < size; i += 64 * PAGE) p[i] = (char)(address >> 20);
    return p;
}

// Whether a range is in the list of mappings, all of it and readable.
static int is_listed(unsigned long from, unsigned long to)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long start, end;
    char access[5];
    while (fscanf(maps, "%lx-%lx %4s%*[^\n]", &start, &end, access) == 3)
        if (start <= from && from < end && access[0] == 'r') from = end;
    fclose(maps);
    return from >= to;
}

static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

int main(void)
{
    char *first = at(0x50000000, 1 << 20, MAP_32BIT);
    at(0x52a00000, 128 << 20, 0);
    at(0x48000000, 1 << 20, MAP_FIXED);
    at(0x60000000, 64 << 20, MAP_FIXED | MAP_FIXED_NOREPLACE);
    CHECK(is_listed(0x50000000, 0x50100000) && is_listed(0x52a00000, 0x5aa00000));
    CHECK(is_listed(0x48000000, 0x48100000) && is_listed(0x60000000, 0x64000000));
    CHECK(!is_listed(0x50000000, 0x50101000));
    // Code runs on, new code too, and what was given keeps what is in it.
    printf("%d\n", fibonacci(20));
    CHECK(first[64 * PAGE] == 0);
    CHECK(mprotect(first, PAGE, PROT_READ) == 0 && munmap(first + PAGE, PAGE) == 0);
    CHECK(mmap(first + PAGE, PAGE, PROT, ANON | MAP_FIXED_NOREPLACE, -1, 0) == first + PAGE);
    char *moved = (char *)mremap(first + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)0x70000000);
    CHECK(moved == (char *)0x70000000 && moved[5] == 0);
    CHECK(munmap((void *)0x52a00000, 128 << 20) == 0 && !is_listed(0x52a00000, 0x52a01000));
    puts("ok");
    return 0;
}
