// Diffusion of smooth data: each point's neighbours differ so little that most differences lose digits.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64
double shift = 0;
static double u[2][N][N];

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 10;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) u[0][i][j] = u[1][i][j] = sin(0.05 * i) * cos(0.03 * j) + shift;
    for (long s = 0; s < steps; s++) {
        double (*from)[N] = u[s & 1], (*to)[N] = u[1 - (s & 1)];
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                double around = from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1];
                to[i][j] = from[i][j] + 0.1 * (around - 4 * from[i][j]);
            }
    }
    printf("%.17g\n", u[steps & 1][N / 2][N / 2]);
    return 0;
}
