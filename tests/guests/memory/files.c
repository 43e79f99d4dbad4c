// Mappings of files: private copies, shared writes, offsets, the zeroes behind the end, truncation.
#include "guest.h"
#include <fcntl.h>
#include <sys/mman.h>

#define PAGE 4096ul

int main(void)
{
    int fd = open("file", O_RDWR | O_CREAT, 0644);
    char line[17];
    for (int i = 0; i < 1000; i++) {
        snprintf(line, sizeof line, "%015d\n", i);
        CHECK(write(fd, line, 16) == 16);
    }
    char *private = (char *)mmap(NULL, 16000, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    char *shared = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (long)PAGE);
    CHECK(private != MAP_FAILED && shared != MAP_FAILED);
    private[0] = 'P';
    shared[0] = 'S';
    printf("%.15s|%.15s|%d\n", private, shared, private[16000]);
    CHECK(private[PAGE] == 'S'); // not yet copied: the file's page
    CHECK(pread(fd, line, 16, (long)PAGE) == 16);
    printf("%.15s\n", line);
    CHECK(ftruncate(fd, 20000) == 0);
    CHECK(munmap(private, 16000) == 0 && munmap(shared, 8192) == 0);
    char *two[2];
    for (int i = 0; i < 2; i++) two[i] = (char *)mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4 * (long)PAGE);
    two[0][100] = 'x';
    CHECK(two[1][100] == 'x' && two[0][19999 - 4 * PAGE] == 0);
    close(fd);
    two[1][0] = 'E';
    return 0;
}
