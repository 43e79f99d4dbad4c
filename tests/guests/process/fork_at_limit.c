// A child that may have no more memory than it has goes on, with code that nobody has run before it as well.
#include "guest.h"
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int descending(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

static int without_memory(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu", &pages) == 1);
    struct rlimit limit = {pages * 4096, pages * 4096};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK_ERRNO(mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), ENOMEM);
    static int numbers[100];
    unsigned seed = 1;
    for (int i = 0; i < 100; i++) numbers[i] = (int)((seed = seed * 1103515245 + 12345) >> 8 & 0xffff);
    for (int i = 0; i < 50; i++) {
        numbers[i] += i;
        qsort(numbers, 100, sizeof *numbers, descending);
    }
    for (int i = 1; i < 100; i++) CHECK(numbers[i - 1] >= numbers[i]);
    return 0;
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(without_memory());
        int status;
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        printf("%d %d\n", WIFEXITED(status), WEXITSTATUS(status));
    }
    return 0;
}
