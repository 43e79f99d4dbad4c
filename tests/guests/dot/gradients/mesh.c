// Fluxes over the edges of an unstructured mesh: gathers and scatters by tables of indices, as solvers on triangles do.
//
// `prog` as it is; `prog I H` with x[I] moved by H; `prog 0 0 EDGES` with as many edges.
#define X 10
double x[X] = {0.9, 0.35, 1.2, -0.4, 0.66, 1.05, -0.71, 0.48, 0.83, 1.31};
#include <math.h>

static int edges = 60;
#define MORE(argc, argv) (edges = argc > 3 ? atoi(argv[3]) : edges)
#include "moved.h"

#define MOST 200000
static int from[MOST], to[MOST];
static double place[MOST / 3][2], state[MOST / 3][2], flux[MOST / 3][2];

static unsigned next(void)
{
    static unsigned seed = 12345;
    return (seed = seed * 1664525u + 1013904223u) >> 8;
}

static void compute(void)
{
    int nodes = edges / 3;
    for (int n = 0; n < nodes; n++) {
        place[n][0] = 0.1 * (n % 17) + 0.02 * x[n % X];
        place[n][1] = 0.1 * (n % 13) - 0.03 * x[(n + 3) % X];
        state[n][0] = 1.0 + 0.2 * x[(n + 1) % X];
        state[n][1] = 0.5 * x[(n * 3) % X];
    }
    for (int e = 0; e < edges; e++) {
        from[e] = next() % nodes;
        to[e] = (from[e] + 1 + next() % (nodes - 1)) % nodes;
    }
    for (int e = 0; e < edges; e++) {
        int a = from[e], b = to[e];
        double vx = place[b][0] - place[a][0], vy = place[b][1] - place[a][1];
        double density = 0.5 * (state[a][0] + state[b][0]);
        double speed = 0.5 * (state[a][1] + state[b][1]);
        double flow = density * (speed * vx - vy) / (1.0 + vx * vx + vy * vy);
        flux[a][0] += flow;
        flux[b][0] -= flow;
        flux[a][1] += flow * speed;
        flux[b][1] -= flow * speed;
    }
    double energy = 0, balance = 0;
    for (int n = 0; n < nodes; n++) {
        energy += flux[n][0] * flux[n][0] + flux[n][1] * flux[n][1];
        balance += flux[n][0] * (1 + n % 3);
    }
    printf("%.17g\n%.17g\n", energy, balance);
}
