// A large space at a low address that the program chooses, or at another if it is taken, leaves room for threads.
#include "guest.h"
#include <pthread.h>
#include <sys/mman.h>

#define SIZE (1090519040ul)

static void *work(void *argument)
{
    return argument;
}

int main(void)
{
    char *space = MAP_FAILED;
    for (unsigned long at = 0x43000000; at < 0x800000000 && space == MAP_FAILED; at += 0x1000000) {
        char *found = mmap((void *)at, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (found == (void *)at)
            space = found;
        else if (found != MAP_FAILED)
            munmap(found, SIZE);
    }
    CHECK(space != MAP_FAILED);
    CHECK(mprotect(space, 4096, PROT_READ | PROT_WRITE) == 0);
    space[0] = 1;
    for (int i = 0; i < 8; i++) {
        pthread_t threads[8];
        for (int j = 0; j < 8; j++)
            CHECK(pthread_create(&threads[j], NULL, work, NULL) == 0);
        for (int j = 0; j < 8; j++)
            CHECK(pthread_join(threads[j], NULL) == 0);
    }
    puts("reserved");
    return 0;
}
