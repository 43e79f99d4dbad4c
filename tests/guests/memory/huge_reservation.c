// Large address ranges reserved without memory behind them, as run-time systems with heaps of their own do.
#include "guest.h"
#include <sys/mman.h>

int main(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    for (int shift = 32; shift <= 44; shift += 2) {
        size_t size = 1ul << shift;
        char *p = (char *)mmap(NULL, size, PROT_NONE, flags, -1, 0);
        CHECK(p != MAP_FAILED);
        CHECK(mprotect(p + size / 2, 1 << 20, PROT_READ | PROT_WRITE) == 0);
        p[size / 2 + 5] = 1;
        // Align within the reservation by giving back both ends.
        size_t align = 1ul << 30;
        char *aligned = (char *)(((uintptr_t)p + align) & ~(align - 1));
        CHECK(munmap(p, (size_t)(aligned - p)) == 0);
        CHECK(munmap(aligned, size - (size_t)(aligned - p)) == 0);
    }
    // Sixty arenas of 64 MB, as malloc makes for threads.
    char *arenas[60];
    for (int i = 0; i < 60; i++) {
        arenas[i] = (char *)mmap(NULL, 128 << 20, PROT_NONE, flags, -1, 0);
        CHECK(arenas[i] != MAP_FAILED && mprotect(arenas[i], 4096, PROT_READ | PROT_WRITE) == 0);
        arenas[i][0] = (char)i;
    }
    for (int i = 0; i < 60; i++) CHECK(arenas[i][0] == i && munmap(arenas[i], 128 << 20) == 0);
    puts("ok");
    return 0;
}
