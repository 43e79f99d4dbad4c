// An adaptive solver: each step is made of the root of what is left of two estimates, of which the errors cancel with them. What is
// shown as exact must be so, or nothing be shown.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void slope(double t, const double *y, double *dy)
{
    dy[0] = y[1] - 0.1 * sin(t);
    dy[1] = -y[0];
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 40;
    double t = 0, h = 1e-6, y[2] = {1, 0};
    for (int n = 0; n < steps; n++) {
        double k[4][2], z[2], low[2], norm = 0;
        slope(t, y, k[0]);
        for (int i = 0; i < 2; i++) z[i] = y[i] + h / 2 * k[0][i];
        slope(t + h / 2, z, k[1]);
        for (int i = 0; i < 2; i++) z[i] = y[i] + h * 3 / 4 * k[1][i];
        slope(t + h * 3 / 4, z, k[2]);
        for (int i = 0; i < 2; i++) z[i] = y[i] + h * (2 / 9.0) * k[0][i] + h * (1 / 3.0) * k[1][i] + h * (4 / 9.0) * k[2][i];
        slope(t + h, z, k[3]);
        for (int i = 0; i < 2; i++) {
            low[i] = h * (-5 / 72.0) * k[0][i] + h * (1 / 12.0) * k[1][i] + h * (1 / 9.0) * k[2][i] - h * 0.125 * k[3][i];
            double scaled = low[i] / (1e-11 + 1e-9 * fabs(y[i]));
            norm += scaled * scaled;
        }
        norm = sqrt(norm / 2);
        t += h;
        y[0] = z[0], y[1] = z[1];
        printf("%.15g %.15g %.15g\n", t, y[0], y[1]);
        double factor = norm == 0 ? 20 : 0.9 * pow(norm, -0.3);
        h *= factor > 1000 ? 1000 : factor;
    }
    return 0;
}
