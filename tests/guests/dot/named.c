// Floats with derivatives in files that lose their names in the end: others may have found the first by its name, whoever
// that is; the second is for a child.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

double x = 3;

static void must(int holds)
{
    if (!holds)
        abort();
}

static double *mapped(const char *file)
{
    int own = open(file, O_RDWR | O_CREAT, 0600);
    must(own >= 0 && ftruncate(own, 4096) == 0);
    double *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
    must(memory != MAP_FAILED && close(own) == 0);
    return memory;
}

static void given_up(const char *file, double *memory)
{
    must(unlink(file) == 0 && munmap(memory, 4096) == 0);
}

int main(void)
{
    double *first = mapped("first.tmp");
    first[0] = x / 7;
    printf("%g\n", first[0]);
    fflush(stdout);
    given_up("first.tmp", first);

    double *second = mapped("second.tmp");
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        second[0] = x / 11;
        _exit(0);
    }
    must(waitpid(child, NULL, 0) == child);
    printf("%g\n", second[0] * 2);
    given_up("second.tmp", second);
    return 0;
}
