// Input from a pipe by every road, output in every buffering, ungetc, seeking what cannot be sought.
//@ stdin: first line\nsecond 42 3.5\nrest of it\nlast
#include "guest.h"

int main(void)
{
    char line[100];
    int number;
    double real;
    CHECK(fgets(line, sizeof line, stdin));
    printf("%s", line);
    CHECK(scanf("%99s %d %lf", line, &number, &real) == 3);
    printf("%s %d %g\n", line, number, real);
    int c = getchar();
    ungetc('X', stdin);
    printf("%d %d\n", c, getchar());
    char *whole = NULL;
    size_t size = 0;
    while (getline(&whole, &size, stdin) > 0) printf("[%s]", strtok(whole, "\n"));
    printf(" %d\n", feof(stdin));
    CHECK_ERRNO(lseek(0, 0, SEEK_CUR), ESPIPE);
    setvbuf(stdout, NULL, _IOLBF, 0);
    fprintf(stderr, "to stderr\n");
    free(whole);
    return 0;
}
