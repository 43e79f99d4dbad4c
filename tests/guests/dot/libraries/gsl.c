// An integral by GSL's adaptive quadrature, and a minimum by its BFGS, of functions of the numbers read.
#include "read.h"
#include <gsl/gsl_integration.h>
#include <gsl/gsl_multimin.h>
#include <math.h>

static double integrand(double t, void *given)
{
    const double *x = given;
    return exp(-x[0] * t) * sin(x[1] * t + x[2]);
}

/* A quadratic with a quartic term; its minimum is where the gradient is zero. */
static double value(const gsl_vector *at, void *given)
{
    const double *x = given;
    double u = gsl_vector_get(at, 0) - x[0], v = gsl_vector_get(at, 1) - x[1] * x[2];
    return x[1] * u * u + u * v + 2 * v * v + 0.1 * u * u * u * u;
}

static void slope(const gsl_vector *at, void *given, gsl_vector *out)
{
    const double *x = given;
    double u = gsl_vector_get(at, 0) - x[0], v = gsl_vector_get(at, 1) - x[1] * x[2];
    gsl_vector_set(out, 0, 2 * x[1] * u + v + 0.4 * u * u * u);
    gsl_vector_set(out, 1, u + 4 * v);
}

static void both(const gsl_vector *at, void *given, double *out, gsl_vector *slopes)
{
    *out = value(at, given);
    slope(at, given, slopes);
}

int main(void)
{
    double x[3], integral, error;
    if (read_all(x, 3) != 3) return 1;
    gsl_integration_workspace *room = gsl_integration_workspace_alloc(100);
    gsl_function function = {integrand, x};
    gsl_integration_qags(&function, 0, 2, 0, 1e-10, 100, room, &integral, &error);
    printf("%.17g\n", integral);
    gsl_multimin_function_fdf target = {value, slope, both, 2, x};
    gsl_vector *start = gsl_vector_alloc(2);
    gsl_vector_set(start, 0, 1.5);
    gsl_vector_set(start, 1, 0.5);
    gsl_multimin_fdfminimizer *minimizer = gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, 2);
    gsl_multimin_fdfminimizer_set(minimizer, &target, start, 0.1, 0.1);
    for (int i = 0; i < 12; i++)
        if (gsl_multimin_fdfminimizer_iterate(minimizer)) break;
    for (int i = 0; i < 2; i++) printf("%.17g\n", gsl_vector_get(minimizer->x, i));
    return 0;
}
