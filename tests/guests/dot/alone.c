// Floats with derivatives in memory that could be shared and is not: anonymous, and of a file that nobody can come to.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

double x = 3;

int main(void)
{
    double *anonymous = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *none = tmpfile();
    if (anonymous == MAP_FAILED || none == NULL || ftruncate(fileno(none), 4096) != 0)
        return 1;
    double *file = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(none), 0);
    if (file == MAP_FAILED)
        return 2;
    anonymous[0] = x * x;
    file[0] = anonymous[0] * x;
    printf("%g\n", file[0]);
    return 0;
}
