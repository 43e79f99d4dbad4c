// madvise, mincore, msync, mlock, posix_fallocate and friends do what they say.
#include "guest.h"
#include <fcntl.h>
#include <sys/mman.h>

#define PAGE 4096ul

int main(void)
{
    char *p = (char *)mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 5, 16 * PAGE);
    CHECK(madvise(p + PAGE, 2 * PAGE, MADV_DONTNEED) == 0);
    CHECK(p[0] == 5 && p[PAGE] == 0 && p[3 * PAGE - 1] == 0 && p[3 * PAGE] == 5);
    unsigned char vector[16];
    CHECK(mincore(p, 16 * PAGE, vector) == 0 && (vector[5] & 1));
    CHECK(mlock(p, PAGE) == 0 && munlock(p, PAGE) == 0);
    CHECK(madvise(p, 16 * PAGE, MADV_DONTFORK) == 0 && madvise(p, 16 * PAGE, MADV_DOFORK) == 0);
    CHECK(madvise(p, 16 * PAGE, MADV_FREE) == 0 && madvise(p, 16 * PAGE, MADV_NOHUGEPAGE) == 0);
    int fd = open("shared", O_RDWR | O_CREAT, 0600);
    CHECK(posix_fallocate(fd, 0, 2 * PAGE) == 0);
    char *file = (char *)mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    strcpy(file + PAGE - 3, "across the page");
    CHECK(msync(file, 2 * PAGE, MS_SYNC) == 0 && munmap(file, 2 * PAGE) == 0);
    char text[16] = {0};
    CHECK(pread(fd, text, 15, PAGE - 3) == 15);
    puts(text);
    return 0;
}
