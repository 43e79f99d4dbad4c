// SIGBUS: an access behind the end of a mapped file, with code and address; growing the file repairs it.
#include "signals.h"
#include <fcntl.h>
#include <sys/mman.h>

static int fd;
static volatile int faults, good;
static char *map;

static void handler(int s, siginfo_t *info, void *c)
{
    (void)c;
    good += s == SIGBUS && info->si_code == BUS_ADRERR && info->si_addr == map + 8192 + 4096 * faults;
    faults++;
    CHECK(ftruncate(fd, 8192 + 4096 * faults) == 0);
}

int main(void)
{
    fd = open("file", O_RDWR | O_CREAT, 0600);
    CHECK(ftruncate(fd, 5000) == 0);
    map = (char *)mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    on_signal(SIGBUS, handler, 0);
    CHECK(map[4999] == 0 && map[8191] == 0);
    for (int i = 0; i < 5; i++) map[8192 + 4096 * i] = (char)('a' + i);
    printf("%d %d %c\n", faults, good, map[8192 + 4096 * 2]);
    return 0;
}
