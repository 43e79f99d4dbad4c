// The same from a file that is mapped, not read.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    double a = atof(argv[argc - 2]), w = strtod(getenv("SG_W"), NULL), s, t;
    int fd = open(argv[argc - 1], O_RDONLY);
    struct stat found;
    if (scanf("%lf %lf", &s, &t) != 2 || fstat(fd, &found) != 0) return 1;
    char *text = mmap(NULL, found.st_size + 1, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED) return 1;
    double sum = a * a + w * s * t;
    char *at = strchr(text, '\n');
    int rows = strtol(at, &at, 10);
    for (int i = 0; i < rows; i++) {
        double p = strtod(at, &at);
        float q = strtof(at, &at);
        sum += (i + 1) * p * p * q;
    }
    printf("%.17g\n", sum);
}
