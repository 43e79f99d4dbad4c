// Five bodies under gravity, leapfrog steps; the energy at the end is printed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BODIES 5
double shift = 0;
static struct { double x[3], v[3], m; } body[BODIES] = {
    {{0, 0, 0}, {0, 0, 0}, 39.478},
    {{4.84, -1.16, -0.10}, {0.606, 2.81, -0.025}, 0.0377},
    {{8.34, 4.12, -0.40}, {-1.01, 1.82, 0.0084}, 0.0113},
    {{12.89, -15.11, -0.22}, {1.08, 0.869, -0.0108}, 0.0017},
    {{15.38, -25.92, 0.18}, {0.979, 0.594, -0.0347}, 0.002}};

static void advance(double dt)
{
    for (int i = 0; i < BODIES; i++)
        for (int j = i + 1; j < BODIES; j++) {
            double d[3], square = 0;
            for (int k = 0; k < 3; k++) d[k] = body[i].x[k] - body[j].x[k], square += d[k] * d[k];
            double magnitude = dt / (square * sqrt(square));
            for (int k = 0; k < 3; k++) {
                body[i].v[k] -= d[k] * body[j].m * magnitude;
                body[j].v[k] += d[k] * body[i].m * magnitude;
            }
        }
    for (int i = 0; i < BODIES; i++)
        for (int k = 0; k < 3; k++) body[i].x[k] += dt * body[i].v[k];
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 1000;
    body[1].x[0] += shift;
    for (int s = 0; s < steps; s++) advance(0.001);
    double energy = 0;
    for (int i = 0; i < BODIES; i++)
        for (int k = 0; k < 3; k++) energy += 0.5 * body[i].m * body[i].v[k] * body[i].v[k];
    printf("%.15g\n", energy);
    return 0;
}
