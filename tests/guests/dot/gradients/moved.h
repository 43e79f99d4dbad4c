/* A function of the array x, printed number by number: `prog` as it is, `prog I H` with x[I] moved by H. */
#include <stdio.h>
#include <stdlib.h>

static void compute(void);

int main(int argc, char **argv)
{
    if (argc > 2) x[atoi(argv[1])] += atof(argv[2]);
    compute();
    return 0;
}
