// Floats that leave otherwise than whole and by a call that writes: by memory that is mapped twice, by one that reads the
// process's own memory, and cut in two.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

double x = 3;

static void must(int holds)
{
    if (!holds)
        abort();
}

/* A rounded number that depends on x. */
static __attribute__((noinline)) double rounded(double of)
{
    return of / 7 + 1;
}

static double mapped_twice(void)
{
    int file = memfd_create("twice", 0);
    must(file >= 0 && ftruncate(file, 4096) == 0);
    double *one = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const double *other = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    must(one != MAP_FAILED && other != MAP_FAILED);
    *one = rounded(x);
    return *other;
}

static double read_by_another_call(void)
{
    double from = rounded(x), to = 0;
    struct iovec remote = {&from, sizeof from}, local = {&to, sizeof to};
    must(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof to);
    return to;
}

static double cut_in_two(void)
{
    double from = rounded(x), to = 0;
    int pipe_of[2];
    must(pipe(pipe_of) == 0);
    struct iovec cut[] = {{&from, 3}, {(char *)&from + 3, 5}};
    must(writev(pipe_of[1], cut, 2) == sizeof from && read(pipe_of[0], &to, sizeof to) == sizeof to);
    return to;
}

int main(void)
{
    printf("%.17g %.17g %.17g\n", mapped_twice(), read_by_another_call(), cut_in_two());
    return 0;
}
