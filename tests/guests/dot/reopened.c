// A product of two numbers that are read from standard input, which is a file and is opened once more by its name.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void must(int holds)
{
    if (!holds)
        abort();
}

int main(void)
{
    int file = open("reopened.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(file >= 0 && write(file, "1.5 2.5\n", 8) == 8 && lseek(file, 0, SEEK_SET) == 0);
    must(dup2(file, STDIN_FILENO) == STDIN_FILENO && close(file) == 0);
    double first, second;
    FILE *again = fopen("/dev/stdin", "r");
    must(again != NULL && fscanf(again, "%lf %lf", &first, &second) == 2);
    printf("%g\n", first * second);
    return 0;
}
