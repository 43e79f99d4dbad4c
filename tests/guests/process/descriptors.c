// Descriptors: the lowest free one is given out, none but the program's own are listed, limits are exact.
#include "guest.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>

static void list(const char *what)
{
    DIR *directory = opendir("/proc/self/fd");
    CHECK(directory);
    int own = dirfd(directory), seen[64] = {0};
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.') {
            int fd = atoi(entry->d_name);
            CHECK(fd < 64);
            seen[fd] = fd != own;
        }
    closedir(directory);
    dprintf(2, "%s:", what);
    for (int i = 0; i < 64; i++)
        if (seen[i]) dprintf(2, " %d", i);
    dprintf(2, "\n");
}

int main(void)
{
    closefrom(3); // what the tests' own surroundings left open
    list("start");
    int a = open("/dev/null", O_RDONLY), b = dup(a), c = fcntl(a, F_DUPFD, 10);
    printf("%d %d %d\n", a, b, c);
    close(a);
    CHECK(open("/dev/null", O_RDONLY) == a);
    list("open");
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 20;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    int last = -1, fd;
    while ((fd = dup(0)) >= 0) last = fd;
    printf("last %d, %s\n", last, strerror(errno));
    CHECK_ERRNO(dup2(0, 20), EBADF);
    CHECK_ERRNO(fcntl(0, F_DUPFD, 20), EINVAL);
    // Every number above the standard three closed, one by one, whether open or not.
    limit.rlim_cur = 1000;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    int closed = 0;
    for (int i = 3; i < 1000; i++) closed += close(i) == 0;
    printf("closed %d\n", closed);
    CHECK_ERRNO(fcntl(999, F_GETFD), EBADF);
    list("closed");
    // Every number can be taken.
    for (int i = 3; i < 1000; i++) CHECK(dup2(0, i) == i);
    for (int i = 3; i < 1000; i++) CHECK(fcntl(i, F_GETFD) == 0);
    CHECK_ERRNO(dup(0), EMFILE);
    closefrom(3);
    list("end");
    return 0;
}
