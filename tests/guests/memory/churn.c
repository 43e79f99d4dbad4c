// A thousand mappings made, changed and removed in random order keep their contents.
#include "guest.h"
#include <sys/mman.h>

#define SLOTS 200
static struct { unsigned char *at; size_t size; unsigned char value; } slot[SLOTS];

static void check(int i)
{
    for (size_t k = 0; k < slot[i].size; k += 511) CHECK(slot[i].at[k] == slot[i].value);
    CHECK(slot[i].at[slot[i].size - 1] == slot[i].value);
}

int main(void)
{
    uint64_t seed = 42;
    for (int step = 0; step < 8000; step++) {
        int i = (int)(next_random(&seed) >> 33) % SLOTS;
        size_t size = (1 + (next_random(&seed) >> 40) % 16) * 4096;
        if (!slot[i].at) {
            slot[i].at = (unsigned char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            CHECK(slot[i].at != MAP_FAILED);
            for (size_t k = 0; k < size; k += 4096) CHECK(slot[i].at[k] == 0);
        } else if (step % 3 == 0) {
            check(i);
            void *moved = mremap(slot[i].at, slot[i].size, size, MREMAP_MAYMOVE);
            CHECK(moved != MAP_FAILED);
            slot[i].at = (unsigned char *)moved;
        } else {
            check(i);
            CHECK(munmap(slot[i].at, slot[i].size) == 0);
            slot[i].at = NULL;
            continue;
        }
        slot[i].size = size;
        slot[i].value = (unsigned char)step;
        memset(slot[i].at, step, size);
    }
    for (int i = 0; i < SLOTS; i++)
        if (slot[i].at) check(i);
    puts("ok");
    return 0;
}
