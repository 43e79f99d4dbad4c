// A parent that prints what its child has computed and handed to it: by a pipe, which is read in parts, a pair of sockets, a file that is
// read, one that is mapped, and memory that both have.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

double x = 3;

static void must(int holds)
{
    if (!holds)
        abort();
}

/* A rounded number that depends on x. */
static __attribute__((noinline)) double rounded(double of)
{
    return of / 11 + 1;
}

int main(void)
{
    const size_t size = sizeof(double);
    int ends[2], sockets[2];
    must(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    int file = open("received.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(file >= 0 && unlink("received.tmp") == 0);
    double *both = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(both != MAP_FAILED);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        double all[5];
        for (int i = 0; i < 5; i++)
            all[i] = rounded(x + i);
        must(write(ends[1], &all[0], 2 * size) == (ssize_t)(2 * size));
        must(send(sockets[1], &all[2], size, 0) == (ssize_t)size);
        must(pwrite(file, &all[3], size, 0) == (ssize_t)size);
        must(pwrite(file, &all[4], size, PAGE) == (ssize_t)size);
        *both = rounded(x + 5);
        _exit(0);
    }
    int status;
    must(waitpid(child, &status, 0) == child && status == 0);
    double all[4];
    must(read(ends[0], &all[0], size) == (ssize_t)size);
    must(read(ends[0], &all[1], size) == (ssize_t)size);
    must(recv(sockets[0], &all[2], size, 0) == (ssize_t)size);
    must(pread(file, &all[3], size, 0) == (ssize_t)size);
    const double *mapped = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, PAGE);
    must(mapped != MAP_FAILED);
    printf("%.17g %.17g %.17g %.17g %.17g %.17g\n", all[0], all[1], all[2], all[3], *mapped, *both);
    return 0;
}
