// The twenty-four Livermore loops, each a function of the array x: how their subscripts advance is what a tape's integers are about.
//
// `prog` prints one number of each loop; `prog I H` likewise with x[I] moved by H; `prog 0 0 LOOP LENGTH` runs one loop alone.
#define X 12
double x[X] = {0.31, -0.42, 0.57, 0.73, -0.84, 0.95, 0.28, 0.66, -0.39, 0.47, 0.81, -0.53};
#include <math.h>

static int only, length = 24;
#define MORE(argc, argv) (only = argc > 3 ? atoi(argv[3]) : 0, length = argc > 4 ? atoi(argv[4]) : length)
#include "moved.h"

#define MOST 20100
#define SIDE 66
static double u[MOST], v[MOST], w[MOST], y[MOST], z[MOST];
static double field[6][SIDE][SIDE], plane[4][MOST / 4][16];

// An element that depends on one or two of the inputs, between 0.2 and 1.8.
static double element(int array, int i)
{
    int n = (i * 7 + array * 5) % X;
    return 1.0 + 0.4 * x[n] + 0.15 * x[(n + 1 + i % 5) % X] * sin(0.7 * i + array);
}

static void fill(double *to, int array, int count)
{
    for (int i = 0; i < count; i++) to[i] = element(array, i);
}

static double total(const double *of, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += of[i] * (1 + (i & 3));
    return sum;
}

// Fields of side + 2 cells, and rows of sixteen numbers.
static void fill_fields(int fields, int side)
{
    for (int f = 0; f < fields; f++)
        for (int j = 0; j < side + 2; j++)
            for (int i = 0; i < side + 2; i++) field[f][j][i] = element(f, j * 3 + i);
}

static double total_field(int f, int side)
{
    double sum = 0;
    for (int j = 1; j <= side; j++)
        for (int i = 1; i <= side; i++) sum += field[f][j][i] * (1 + ((i + j) & 3));
    return sum;
}

static void fill_rows(int rows)
{
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < 16; k++) plane[0][i][k] = 0.3 * element(k, i);
}

static int side_of(int n)
{
    int side = (int)sqrt((double)n) + 3;
    return side < SIDE - 2 ? side : SIDE - 2;
}

static double hydro(int n)
{
    fill(y, 1, n), fill(z, 2, n + 11);
    for (int k = 0; k < n; k++) u[k] = x[0] + y[k] * (x[1] * z[k + 10] + x[2] * z[k + 11]);
    return total(u, n);
}

// Strides halve from pass to pass.
static double incomplete_cholesky(int n)
{
    int count = 16;
    while (count * 2 <= n) count *= 2;
    fill(u, 1, 2 * count + 2), fill(v, 2, 2 * count + 2);
    int end = 0;
    for (int left = count; left > 0; left /= 2) {
        int start = end, to;
        to = end = start + left;
        for (int k = start + 1; k < end; k += 2)
            u[to++] = u[k] - 0.3 * v[k] * u[k - 1] - 0.3 * v[k + 1] * u[k + 1];
    }
    return total(u, 2 * count);
}

static double inner_product(int n)
{
    fill(y, 1, n), fill(z, 2, n);
    double q = 0;
    for (int k = 0; k < n; k++) q += z[k] * y[k];
    return q;
}

static double banded(int n)
{
    fill(u, 1, n + 8), fill(y, 2, n), fill(z, 3, 2 * n + 8);
    int step = (n - 7) / 2 > 0 ? (n - 7) / 2 : 1;
    for (int k = 6; k < n; k += step) {
        double sum = u[k - 1];
        for (int from = k - 6, j = 4; j < n; j += 5) sum -= 0.05 * z[from++] * y[j];
        u[k - 1] = y[4] * sum;
    }
    return total(u, n);
}

static double tridiagonal(int n)
{
    fill(u, 1, n), fill(y, 2, n), fill(z, 3, n);
    for (int i = 1; i < n; i++) u[i] = 0.6 * z[i] * (y[i] - u[i - 1]);
    return total(u, n);
}

static double recurrence(int n)
{
    fill(w, 1, n), fill(z, 2, n);
    for (int i = 1; i < n; i++) {
        w[i] = 0.01 + 0.1 * w[i];
        for (int k = 0; k < i; k++) w[i] += 0.02 * z[(k * 5 + i) % n] * w[i - k - 1];
    }
    return total(w, n);
}

static double equation_of_state(int n)
{
    fill(u, 1, n + 6), fill(y, 2, n), fill(z, 3, n);
    double r = x[3], t = x[4], q = x[5];
    for (int k = 0; k < n; k++)
        v[k] = u[k] + r * (z[k] + r * y[k])
             + t * (u[k + 3] + r * (u[k + 2] + r * u[k + 1]) + t * (u[k + 6] + q * (u[k + 5] + q * u[k + 4])));
    return total(v, n);
}

// Alternating directions: three fields, each advanced by the differences of all three.
static double alternating(int n)
{
    int side = side_of(n);
    fill_fields(6, side);
    for (int i = 1; i <= side; i++)
        for (int j = 1; j <= side; j++) {
            double d[3];
            for (int f = 0; f < 3; f++) d[f] = field[f][i][j + 1] - field[f][i][j - 1];
            for (int f = 0; f < 3; f++) {
                double sum = field[f][i][j] + 0.2 * (field[f][i + 1][j] - 2 * field[f][i][j] + field[f][i - 1][j]);
                for (int k = 0; k < 3; k++) sum += 0.1 * x[f * 3 + k] * d[k];
                field[3 + f][i][j] = sum;
            }
        }
    return total_field(3, side) + total_field(4, side) + total_field(5, side);
}

static double predict(int n)
{
    int rows = n / 4 + 4;
    fill_rows(rows);
    for (int i = 0; i < rows; i++) {
        double *p = plane[0][i];
        p[0] = x[0] * p[12] + x[1] * p[11] + x[2] * p[10] + x[3] * p[9] + x[4] * p[8] + x[5] * p[7] + x[6] * p[6]
             + x[7] * (p[4] + p[5]) + p[2];
    }
    return total(plane[0][0], 16 * rows);
}

static double predict_differences(int n)
{
    int rows = n / 4 + 4;
    fill_rows(rows);
    for (int i = 0; i < rows; i++) {
        double *p = plane[0][i], change = element(3, i);
        for (int k = 4; k < 13; k++) {
            double next = change - p[k];
            p[k] = change;
            change = next;
        }
        p[13] = change;
    }
    return total(plane[0][0], 16 * rows);
}

static double first_sum(int n)
{
    fill(y, 1, n);
    u[0] = y[0];
    for (int k = 1; k < n; k++) u[k] = u[k - 1] + y[k];
    return total(u, n) / n;
}

static double first_difference(int n)
{
    fill(y, 1, n + 1);
    for (int k = 0; k < n; k++) u[k] = y[k + 1] - y[k];
    return total(u, n);
}

// Particles in two dimensions: subscripts are made of floats, which have no derivative.
static double particles(int n)
{
    int side = 16;
    fill_fields(3, side);
    fill(v, 1, 4 * n), fill(y, 2, 2 * side), fill(z, 3, 2 * side);
    for (int p = 0; p < n; p++) {
        double *particle = v + 4 * p;
        int i = (int)(particle[0] * 7) & (side - 1), j = (int)(particle[1] * 7) & (side - 1);
        particle[2] += field[0][j][i];
        particle[3] += field[1][j][i];
        particle[0] += 0.1 * particle[2];
        particle[1] += 0.1 * particle[3];
        i = (int)(particle[0] * 7) & (side - 1), j = (int)(particle[1] * 7) & (side - 1);
        particle[0] += y[i + 8];
        particle[1] += z[j + 8];
        field[2][j][i] += 1.0 * x[p % X];
    }
    return total(v, 4 * n) + total_field(2, side);
}

static double particles_on_a_line(int n)
{
    static int at[MOST];
    fill(u, 1, n), fill(v, 2, n), fill(y, 3, 32), fill(z, 4, 32);
    for (int k = 0; k < 34; k++) w[k] = 0;
    for (int k = 0; k < n; k++) {
        at[k] = (int)(u[k] * 9) & 15;
        v[k] += y[at[k]] + (u[k] - at[k]) * z[at[k]];
        u[k] += 0.01 * v[k];
    }
    for (int k = 0; k < n; k++) {
        double share = u[k] * 9 - (int)(u[k] * 9);
        w[at[k]] += 1.0 - share;
        w[at[k] + 1] += share;
    }
    return total(w, 17) + total(u, n);
}

static double casual(int n)
{
    int side = side_of(n);
    fill_fields(4, side);
    for (int j = 1; j <= side; j++)
        for (int i = 1; i <= side; i++) {
            double t = field[0][j + 1][i] > field[0][j][i] ? 0.053 : 0.073;
            double r = fmax(field[1][j - 1][i], field[1][j][i]);
            double s = field[2][j][i] < field[2][j + 1][i] ? field[3][j][i] : field[3][j + 1][i];
            field[4][j][i] = sqrt(field[0][j][i] * field[0][j][i] + r * r) * t / s;
        }
    return total_field(4, side);
}

// A search that computes with floats only to compare them.
static double search(int n)
{
    fill(u, 1, n + 8);
    int found = 0, at = 0;
    for (int k = 0; k < n; k++) {
        at = (at * 5 + 3) % n;
        if (u[at] * u[at + 1] < x[6] + 0.1) found++;
        else if (u[at] - u[at + 2] > 0.05) found += 2;
    }
    return found;
}

static double conditional(int n)
{
    fill(u, 1, n), fill(v, 2, n), fill(y, 3, n);
    double sum = 0.5 * x[1], part = 1.0 + 0.1 * x[2];
    for (int k = n - 1; k >= 0; k--) {
        double next = part * v[k] * 0.4 + u[k];
        if (next > 1.03) part = 0.3 * next;
        else part = 0.7 * next + y[k] * 0.2;
        sum += part / u[k];
        w[k] = sum;
    }
    return total(w, n) / n;
}

static double explicit_hydro(int n)
{
    int side = side_of(n);
    fill_fields(6, side);
    for (int j = 1; j <= side; j++)
        for (int i = 1; i <= side; i++) {
            field[4][j][i] = (field[0][j + 1][i - 1] + field[1][j + 1][i - 1] - field[0][j][i - 1] - field[1][j][i - 1])
                           * (field[2][j][i] + field[2][j][i - 1]) / (field[3][j][i - 1] + field[3][j + 1][i - 1]);
            field[5][j][i] = (field[0][j][i - 1] + field[1][j][i - 1] - field[0][j][i] - field[1][j][i])
                           * (field[2][j][i] + field[2][j - 1][i]) / (field[3][j][i] + field[3][j][i - 1]);
        }
    for (int j = 1; j <= side; j++)
        for (int i = 1; i <= side; i++)
            field[0][j][i] += 0.1 * x[7] * (field[4][j][i] * (field[2][j][i] - field[2][j][i + 1])
                                            - field[4][j][i - 1] * (field[2][j][i] - field[2][j][i - 1])
                                            - field[5][j][i] * (field[2][j][i] - field[2][j - 1][i])
                                            + field[5][j + 1][i] * (field[2][j][i] - field[2][j + 1][i]));
    return total_field(0, side);
}

static double both_ways(int n)
{
    fill(u, 1, n), fill(v, 2, n), fill(w, 3, n);
    double carried = x[3];
    for (int k = 0; k < n; k++) {
        w[k] = u[k] + carried * v[k];
        carried = 0.5 * (w[k] - carried);
    }
    for (int k = n - 1; k >= 0; k--) {
        w[k] = u[k] + carried * v[k];
        carried = 0.5 * (w[k] - carried);
    }
    return total(w, n);
}

static double transport(int n)
{
    fill(u, 1, n + 1), fill(v, 2, n), fill(y, 3, n), fill(z, 4, n);
    double flow = 1.0 + 0.3 * x[4];
    for (int k = 0; k < n; k++) {
        double difference = y[k] - 0.6 * v[k];
        double ratio = 0.2;
        if (difference != 0) ratio = fmin(fmax(0.35 * z[k] / difference, 0.01 * (1 + x[5])), 1.3);
        w[k] = (u[k] + ratio * flow) / (1.7 * v[k] + ratio);
        flow = 0.9 * (w[k] - flow) * ratio + 0.4 * flow;
    }
    return total(w, n);
}

static double product(int n)
{
    int side = side_of(n);
    fill_fields(2, side);
    for (int j = 0; j <= side; j++)
        for (int i = 0; i <= side; i++) field[2][j][i] = 0;
    for (int k = 1; k <= side; k++)
        for (int i = 1; i <= side; i++)
            for (int j = 1; j <= side; j++) field[2][j][i] += field[0][k][i] * field[1][j][k];
    return total_field(2, side) / side;
}

static double planck(int n)
{
    fill(u, 1, n), fill(v, 2, n), fill(y, 3, n);
    for (int k = 0; k < n; k++) {
        z[k] = u[k] / v[k];
        w[k] = y[k] / (exp(z[k]) - 1.0);
    }
    return total(w, n);
}

static double implicit_hydro(int n)
{
    int side = side_of(n);
    fill_fields(6, side);
    for (int j = 1; j <= side; j++)
        for (int i = 1; i <= side; i++) {
            double change = field[0][j + 1][i] * field[1][j][i] + field[0][j - 1][i] * field[2][j][i]
                          + field[0][j][i + 1] * field[3][j][i] + field[0][j][i - 1] * field[4][j][i] + field[5][j][i];
            field[0][j][i] += 0.175 * (0.2 * change - field[0][j][i]);
        }
    return total_field(0, side);
}

static double first_minimum(int n)
{
    fill(u, 1, n);
    u[n / 2] = -3.0 * x[8] * x[8];
    int at = 0;
    for (int k = 1; k < n; k++)
        if (u[k] < u[at]) at = k;
    return u[at] * (at + 1);
}

static void compute(void)
{
    static double (*const loops[])(int) = {
        hydro, incomplete_cholesky, inner_product, banded, tridiagonal, recurrence, equation_of_state, alternating,
        predict, predict_differences, first_sum, first_difference, particles, particles_on_a_line, casual, search,
        conditional, explicit_hydro, both_ways, transport, product, planck, implicit_hydro, first_minimum,
    };
    for (int loop = 0; loop < 24; loop++)
        if (only == 0 || only == loop + 1) printf("%.17g\n", loops[loop](length));
}
