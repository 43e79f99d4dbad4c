// Arrays leave in binary form: of doubles, of floats, behind a header, of long doubles, and a few that could be either.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST 3000

double x = 0.75;
static double doubles[MOST];
static float floats[MOST];
static long double wide[MOST];

static __attribute__((noinline)) int leave(const void *all, size_t bytes)
{
    return write(1, all, bytes) == (ssize_t)bytes; // LEAVES
}

static __attribute__((noinline)) int leave_behind_a_header(const double *all, int count)
{
    fwrite(&count, sizeof count, 1, stdout);
    for (int i = 0; i < count; i++)
        fwrite(all + i, sizeof *all, 1, stdout);
    return fflush(stdout) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    for (int i = 0; i < MOST; i++) {
        doubles[i] = sin((i + 1) * x);
        floats[i] = sinf((i + 1) * (float)x);
        wide[i] = sinl((i + 1) * (long double)x);
    }
    int done = 0;
    if (!strcmp(argv[1], "doubles"))
        for (int n = 0; n < argc; n++)
            done = leave(doubles, (1000 + 2000 * n) * sizeof *doubles);
    if (!strcmp(argv[1], "floats"))
        done = leave(floats, sizeof floats);
    if (!strcmp(argv[1], "wide"))
        done = leave(wide, sizeof wide);
    if (!strcmp(argv[1], "header"))
        done = leave_behind_a_header(doubles, 300);
    if (!strcmp(argv[1], "few")) {
        double all[4] = {x, 2 * x, 4, x * x};
        done = leave(all, sizeof all);
    }
    return !done;
}
