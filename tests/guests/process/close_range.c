// close_range and closing 0, 1 and 2; what is opened next takes their numbers.
#include "guest.h"
#include <fcntl.h>
#include <sys/syscall.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

static long close_all(unsigned first, unsigned last, unsigned flags) { return syscall(SYS_close_range, first, last, flags); }

int main(int argc, char **argv)
{
    if (argc > 1) {
        CHECK(fcntl(30, F_GETFD) == -1 && fcntl(7, F_GETFD) >= 0);
        puts("after exec");
        return 0;
    }
    int out = dup2(1, 50);
    CHECK(dup2(0, 30) == 30 && dup2(0, 7) == 7);
    CHECK(close_all(10, 40, 0) == 0 && fcntl(30, F_GETFD) == -1 && fcntl(50, F_GETFD) >= 0);
    CHECK_ERRNO(close_all(40, 10, 0), EINVAL);
    CHECK_ERRNO(close_all(3, 9, 0x100), EINVAL);
    CHECK(close(0) == 0 && close(1) == 0 && close(2) == 0);
    CHECK(open("first", O_RDWR | O_CREAT, 0600) == 0);
    CHECK(open("second", O_RDWR | O_CREAT, 0600) == 1);
    CHECK(open("third", O_RDWR | O_CREAT, 0600) == 2);
    puts("into the second file");
    fflush(stdout);
    dprintf(2, "into the third file\n");
    CHECK(dup2(out, 1) == 1);
    puts("back");
    fflush(stdout);
    CHECK(dup2(0, 30) == 30);
    CHECK(close_all(8, ~0u, CLOSE_RANGE_CLOEXEC) == 0 && (fcntl(30, F_GETFD) & FD_CLOEXEC));
    execl(argv[0], argv[0], "x", NULL);
    CHECK(!"exec");
}
