// Five-point stencil in double precision over a grid that fits the cache: loads, adds, multiplies.
#include <stdio.h>
#include <stdlib.h>

#define N 256
double shift = 0;
static double grid[2][N][N];

static void sweep(double (*restrict to)[N], double (*restrict from)[N])
{
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            to[i][j] = 0.5 * from[i][j] + 0.125 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 100;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) grid[0][i][j] = grid[1][i][j] = (i * 31 + j * 17) % 101 + shift;
    for (int s = 0; s < steps; s++) sweep(grid[(s + 1) % 2], grid[s % 2]);
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += grid[0][i][j];
    printf("%.17g\n", sum);
    return 0;
}
