// Four bodies that attract each other, as a function of where they start and how fast.
#define BODIES 4
double x[6 * BODIES] = {
    0, 0, 0, 0.1, 0, 0, 1, 0.2, 0, 0, 0.9, 0.1, -0.4, 1.5, 0.3, -0.7, 0, 0.2, 2, -1, 0.5, 0, 0.4, -0.3,
};
static const double mass[BODIES] = {1, 0.3, 0.2, 0.1};
#include "moved.h"
#include <math.h>

static void compute(void)
{
    const double dt = 0.01;
    for (int s = 0; s < 100; s++) {
        for (int a = 0; a < BODIES; a++)
            for (int b = 0; b < BODIES; b++) {
                if (a == b) continue;
                double d[3], square = 0.01;
                for (int k = 0; k < 3; k++) {
                    d[k] = x[6 * b + k] - x[6 * a + k];
                    square += d[k] * d[k];
                }
                double pull = mass[b] / (square * sqrt(square));
                for (int k = 0; k < 3; k++) x[6 * a + 3 + k] += dt * pull * d[k];
            }
        for (int a = 0; a < BODIES; a++)
            for (int k = 0; k < 3; k++) x[6 * a + k] += dt * x[6 * a + 3 + k];
    }
    for (int a = 0; a < BODIES; a++) printf("%.17g %.17g\n", x[6 * a], x[6 * a + 4]);
}
