// Floats with derivatives that a process hands to itself and to its children in binary form: by pipes, files, a pair of
// sockets and a mapping of a file. What is overwritten there by a constant has none.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

double x = 3;

static void must(int holds)
{
    if (!holds)
        abort();
}

static void put(int to, double value)
{
    must(write(to, &value, sizeof value) == sizeof value);
}

static double get(int from)
{
    double value;
    must(read(from, &value, sizeof value) == sizeof value);
    return value;
}

static void in_order(void)
{
    int ends[2];
    must(pipe(ends) == 0);
    put(ends[1], 4); // nothing to note yet
    put(ends[1], x * x);
    put(ends[1], 5);
    put(ends[1], 1 / x);
    double first = get(ends[0]), second = get(ends[0]), third = get(ends[0]);
    printf("%g %g %g %g\n", first, second, third, get(ends[0]));
}

static void to_a_child_and_back(void)
{
    int there[2], back[2];
    must(pipe(there) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, back) == 0);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        double value = get(there[0]);
        put(back[1], value * value);
        _exit(0);
    }
    put(there[1], x);
    printf("%g\n", get(back[0]));
    must(waitpid(child, NULL, 0) == child);
}

static void by_a_file(void)
{
    int file = open("handed.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(file >= 0);
    double all[3] = {x, 2, 1 / x}, again[3];
    must(write(file, all, sizeof all) == sizeof all);
    must(lseek(file, 0, SEEK_SET) == 0);
    struct iovec parts[2] = {{again, 12}, {(char *)again + 12, 12}};
    must(readv(file, parts, 2) == sizeof again);
    printf("%g\n", again[0] + again[1] + again[2]);
    double three = 3;
    must(pwrite(file, &three, sizeof three, 0) == sizeof three);
    must(pread(file, again, sizeof again, 0) == sizeof again);
    printf("%g\n", again[0] + again[1] + again[2]);
    const double *mapped = mmap(NULL, sizeof all, PROT_READ, MAP_PRIVATE, file, 0);
    must(mapped != MAP_FAILED);
    printf("%g\n", mapped[2]);
    pid_t child = fork();
    if (child == 0) {
        double value = 7 * x;
        _exit(pwrite(file, &value, sizeof value, 64) != sizeof value);
    }
    int status;
    must(waitpid(child, &status, 0) == child && status == 0);
    must(pread(file, again, sizeof *again, 64) == sizeof *again);
    printf("%g\n", again[0]);
    must(unlink("handed.tmp") == 0);
}

static void by_a_stream_of_the_library(void)
{
    FILE *file = tmpfile();
    double value = x * x * x;
    must(fwrite(&value, sizeof value, 1, file) == 1);
    rewind(file);
    must(fread(&value, sizeof value, 1, file) == 1);
    printf("%g\n", value);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 4096);
    in_order();
    fflush(stdout);
    to_a_child_and_back();
    fflush(stdout);
    by_a_file();
    by_a_stream_of_the_library();
    return 0;
}
