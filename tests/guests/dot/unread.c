// Seeds that are overwritten before they are read: by a store, in a loop, by a fill, a copy and a system call. Others are read first.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

double x[2] = {1, 2}, got[2] = {3, 4}, kept = 2, late = 4, neighbour;
double some[8] = {1, 2, 3, 4, 5, 6, 7, 8}, filled[5] = {1, 2, 3, 4, 5}, copied[4] = {1, 2, 3, 4};
static const double source[4] = {5, 6, 7, 8};

int main(int argc, char **argv)
{
    (void)argv;
    double early = kept * kept;
    *(volatile double *)x = 2 + argc; // OVERWRITES x
    for (int i = 0; i < 3; i++)
        ((volatile double *)some)[i] = argc; // OVERWRITES some
    memset(filled, argc - 1, sizeof filled - sizeof *filled);
    memcpy(copied, source, 2 * argc * sizeof *copied);
    int ends[2];
    double sent = 7;
    if (pipe(ends) != 0 || write(ends[1], &sent, sizeof sent) != sizeof sent ||
        read(ends[0], got, sizeof *got) != sizeof *got)
        return 1;
    *(volatile double *)&kept = 1;
    for (int i = 0; i < 100000; i++)
        *(volatile double *)&neighbour += argc;
    printf("%g %g\n", *x * *x + early + *got, late * some[7] + some[0] + filled[1] + copied[0] + copied[3]);
    *(volatile double *)&late = 1;
    return 0;
}
