// The loss of a small neural network, as a function of its weights.
#define IN 3
#define HIDDEN 6
#define OUT 3
#define WEIGHTS (HIDDEN * (IN + 1) + HIDDEN * (HIDDEN + 1) + OUT * (HIDDEN + 1))
double x[WEIGHTS] = {
    -0.846, 0.231, -0.462, 0.615, -0.077, -0.769, 0.308, -0.385, 0.692, 0.000, -0.692, 0.385,
    -0.308, 0.769, 0.077, -0.615, 0.462, -0.231, 0.846, 0.154, -0.538, 0.538, -0.154, -0.846,
    0.231, -0.462, 0.615, -0.077, -0.769, 0.308, -0.385, 0.692, 0.000, -0.692, 0.385, -0.308,
    0.769, 0.077, -0.615, 0.462, -0.231, 0.846, 0.154, -0.538, 0.538, -0.154, -0.846, 0.231,
    -0.462, 0.615, -0.077, -0.769, 0.308, -0.385, 0.692, 0.000, -0.692, 0.385, -0.308, 0.769,
    0.077, -0.615, 0.462, -0.231, 0.846, 0.154, -0.538, 0.538, -0.154, -0.846, 0.231, -0.462,
    0.615, -0.077, -0.769, 0.308, -0.385, 0.692, 0.000, -0.692, 0.385, -0.308, 0.769, 0.077,
    -0.615, 0.462, -0.231,
};
static const double samples[4][IN] = {{0.2, -0.5, 1.1}, {1.3, 0.4, -0.8}, {-0.9, 0.1, 0.6}, {0.5, 1.7, 0.3}};
static const int label[4] = {0, 2, 1, 2};
#include "moved.h"
#include <math.h>

/* One layer: sums with a bias, and tanh, or the larger of it and 0. */
static const double *layer(const double *weights, const double *in, int ins, double *out, int outs, int kind)
{
    for (int o = 0; o < outs; o++) {
        double sum = *weights++;
        for (int i = 0; i < ins; i++) sum += *weights++ * in[i];
        out[o] = kind == 0 ? tanh(sum) : kind == 1 ? fmax(sum, 0.01 * sum) : sum;
    }
    return weights;
}

static void compute(void)
{
    double loss = 0;
    for (int s = 0; s < 4; s++) {
        double first[HIDDEN], second[HIDDEN], last[OUT], total = 0;
        const double *weights = layer(x, samples[s], IN, first, HIDDEN, 0);
        weights = layer(weights, first, HIDDEN, second, HIDDEN, 1);
        layer(weights, second, HIDDEN, last, OUT, 2);
        for (int o = 0; o < OUT; o++) total += exp(last[o]);
        loss -= log(exp(last[label[s]]) / total);
    }
    printf("%.17g\n", loss);
}
