/* Numbers of standard input, one on each line: how many there were. */
#include <stdio.h>

static int read_all(double *x, int most)
{
    int count = 0;
    while (count < most && scanf("%lf", x + count) == 1) count++;
    return count;
}
