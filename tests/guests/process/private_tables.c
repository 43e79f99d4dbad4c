// A child in the parent's memory has a table of descriptors of its own: what it redirects and closes there stays its own.
#define _GNU_SOURCE
#include "guest.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { NUMBERS = 1000 };

static void take_and_close_all(void)
{
    // Each number is the program's to have: taken, it is open; closed, it is closed.
    for (int n = 3; n < NUMBERS; n++) CHECK(dup2(0, n) == n);
    for (int n = 3; n < NUMBERS; n++) CHECK(fcntl(n, F_GETFD) == 0 && close(n) == 0);
    for (int n = 3; n < NUMBERS; n++) CHECK_ERRNO(fcntl(n, F_GETFD), EBADF);
}

static void end(pid_t child, int expected)
{
    int status;
    CHECK(waitpid(child, &status, __WALL) == child && WIFEXITED(status) && WEXITSTATUS(status) == expected);
}

static int in_child(void *redirects)
{
    int file = open("child", O_WRONLY | O_CREAT | O_APPEND, 0600);
    CHECK(file >= 0 && dup2(file, 2) == 2);
    CHECK(close(file) == 0);
    if (redirects) take_and_close_all();
    dprintf(2, "by a child\n");
    _exit(7);
}

static char stack[64 << 10] __attribute__((aligned(16)));

int main(void)
{
    closefrom(3); // what the tests' own surroundings left open
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = NUMBERS;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (int round = 0; round < 3; round++) {
        pid_t child = vfork();
        if (child == 0) in_child(round ? &round : NULL);
        end(child, 7);
        take_and_close_all();
        dprintf(2, "by the parent\n");
    }
    // Neither memory nor descriptors need be shared or not shared together.
    int flags[] = {CLONE_VM, CLONE_VM | CLONE_FILES, CLONE_FILES, 0};
    for (int n = 0; n < 4; n++) {
        int kept = fcntl(2, F_DUPFD, 10);
        end(clone(in_child, stack + sizeof stack, flags[n] | SIGCHLD, stack), 7);
        dprintf(2, "by the parent, %d\n", n);
        // A child that shares the table has closed this one too.
        CHECK((fcntl(kept, F_GETFD) >= 0) == !(flags[n] & CLONE_FILES));
        CHECK(flags[n] & CLONE_FILES || (dup2(kept, 2) == 2 && close(kept) == 0));
        take_and_close_all();
    }
    // A table that becomes one's own.
    CHECK(unshare(CLONE_FILES) == 0 && dup2(0, 2) == 2);
    take_and_close_all();
    puts("ok");
    return 0;
}
