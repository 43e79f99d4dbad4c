// MAP_FIXED replaces what was there, in part; MAP_FIXED_NOREPLACE refuses; munmap cuts holes.
#include "guest.h"
#include <sys/mman.h>

#define PAGE 4096ul
static const int ANON = MAP_PRIVATE | MAP_ANONYMOUS;

int main(void)
{
    char *base = (char *)mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, ANON, -1, 0);
    CHECK(base != MAP_FAILED);
    memset(base, 1, 16 * PAGE);
    CHECK(mmap(base + 4 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE, ANON | MAP_FIXED, -1, 0) == base + 4 * PAGE);
    CHECK(base[4 * PAGE - 1] == 1 && base[4 * PAGE] == 0 && base[6 * PAGE - 1] == 0 && base[6 * PAGE] == 1);
    CHECK_ERRNO(mmap(base + 3 * PAGE, PAGE, PROT_READ, ANON | MAP_FIXED_NOREPLACE, -1, 0), EEXIST);
    CHECK(munmap(base + 8 * PAGE, 4 * PAGE) == 0);
    CHECK(munmap(base + 8 * PAGE, 4 * PAGE) == 0); // nothing there is no error
    CHECK(mmap(base + 9 * PAGE, PAGE, PROT_READ, ANON | MAP_FIXED_NOREPLACE, -1, 0) == base + 9 * PAGE);
    CHECK_ERRNO(mmap(base + 7 * PAGE, 2 * PAGE, PROT_READ, ANON | MAP_FIXED_NOREPLACE, -1, 0), EEXIST);
    CHECK(base[7 * PAGE] == 1 && base[12 * PAGE] == 1);
    // Half of it read-only, then a file over the middle.
    CHECK(mprotect(base, 2 * PAGE, PROT_READ) == 0 && base[0] == 1);
    FILE *file = fopen("data", "w+");
    for (int i = 0; i < 5000; i++) fputc('a' + i % 26, file);
    fflush(file);
    CHECK(mmap(base + PAGE, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fileno(file), 0) == base + PAGE);
    printf("%.5s %d %c %d\n", base + PAGE, base[0], base[PAGE + 4999], base[PAGE + 5000]);
    base[PAGE] = 'X';
    CHECK(munmap(base, 16 * PAGE) == 0);
    unsigned char residency;
    CHECK_ERRNO(mincore(base, PAGE, &residency), ENOMEM);
    return 0;
}
