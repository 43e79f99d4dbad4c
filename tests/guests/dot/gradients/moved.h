/* A function of the array x, printed number by number: `prog` as it is, `prog I H` with x[I] moved by H. */
#include <stdio.h>
#include <stdlib.h>

static void compute(void);

/* Words of the command after these two, for a program that takes some. */
#ifndef MORE
#define MORE(argc, argv) ((void)0)
#endif

int main(int argc, char **argv)
{
    if (argc > 2) x[atoi(argv[1])] += atof(argv[2]);
    MORE(argc, argv);
    compute();
    return 0;
}
