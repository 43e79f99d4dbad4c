// Floats with derivatives in memory that processes share, or that one has mapped twice: anonymous, of a file, and of System
// V's kind. The file can be read as well.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

double x = 3;

static void must(int holds)
{
    if (!holds)
        abort();
}

/* Has a child do this, and waits for it. */
static void in_a_child(void (*act)(double *), double *memory)
{
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        act(memory);
        _exit(0);
    }
    must(waitpid(child, NULL, 0) == child);
}

static void square(double *memory)
{
    memory[1] = memory[0] * memory[0];
}

static const char *file;

static void square_in_the_file(double *memory)
{
    (void)memory;
    int own = open(file, O_RDWR);
    double *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
    must(mapped != MAP_FAILED);
    square(mapped);
    must(munmap(mapped, 4096) == 0);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 4096);
    double *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED);
    memory[0] = x;
    in_a_child(square, memory);
    void *place = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(place != MAP_FAILED);
    double *moved = mremap(memory, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    must(moved != MAP_FAILED);
    in_a_child(square, moved);
    printf("%g\n", moved[1]);
    fflush(stdout);
    must(munmap(moved, 8192) == 0);
    /* What comes there now is nobody else's. */
    double *fresh = mmap(moved, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    fresh[1] = 9;
    in_a_child(square, fresh);
    printf("%g\n", fresh[1]);
    fflush(stdout);

    file = "shared.tmp";
    int one = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(ftruncate(one, 4096) == 0);
    double *first = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, one, 0);
    const double *second = mmap(NULL, 4096, PROT_READ, MAP_SHARED, one, 0);
    must(first != MAP_FAILED && second != MAP_FAILED);
    first[0] = x;
    in_a_child(square_in_the_file, NULL);
    double read_again, written = x * x * x;
    must(pread(one, &read_again, sizeof read_again, sizeof read_again) == sizeof read_again);
    must(pwrite(one, &written, sizeof written, 128) == sizeof written);
    printf("%g %g %g\n", second[1], read_again, second[16]);
    fflush(stdout);
    must(unlink(file) == 0);

    int segment = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    double *here = shmat(segment, NULL, 0), *there = shmat(segment, NULL, 0);
    must(here != (void *)-1 && there != (void *)-1);
    must(shmctl(segment, IPC_RMID, NULL) == 0);
    here[0] = 1 / x;
    in_a_child(square, here);
    printf("%g %g\n", there[0], there[1]);
    return 0;
}
