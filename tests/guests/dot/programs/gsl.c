// The GNU Scientific Library: special functions, an ODE solver, integration, interpolation, a minimum, linear algebra.
//@ libs: -lgsl -lgslcblas -lm
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_odeiv2.h>
#include <gsl/gsl_poly.h>
#include <gsl/gsl_sf.h>
#include <gsl/gsl_spline.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double shift = 0;

static void special_functions(void)
{
    double x = 1.3 + shift;
    printf("%.17g %.17g\n", gsl_sf_bessel_Jnu(0.5, x), gsl_sf_bessel_K0(x));
    printf("%.17g %.17g\n", gsl_sf_gamma(x), gsl_sf_psi(x));
    printf("%.17g %.17g\n", gsl_sf_erf(x), gsl_sf_dawson(x));
    printf("%.17g %.17g\n", gsl_sf_ellint_Kcomp(x / 2, GSL_PREC_DOUBLE), gsl_sf_zeta(x + 1));
    printf("%.17g %.17g\n", gsl_sf_legendre_Pl(5, x / 2), gsl_sf_lambert_W0(x));
    printf("%.17g\n", gsl_sf_hyperg_1F1(1.5, 2.5, x));
}

static int oscillator(double t, const double y[], double dydt[], void *parameters)
{
    double mu = *(double *)parameters;
    (void)t;
    dydt[0] = y[1];
    dydt[1] = -y[0] - mu * y[1] * (y[0] * y[0] - 1);
    return GSL_SUCCESS;
}

static void differential_equation(void)
{
    double mu = 1.5 + shift, t = 0, y[2] = {1, 0};
    gsl_odeiv2_system system = {oscillator, NULL, 2, &mu};
    gsl_odeiv2_step *step = gsl_odeiv2_step_alloc(gsl_odeiv2_step_rk8pd, 2);
    for (int i = 0; i < 100; i++) {
        double error[2];
        gsl_odeiv2_step_apply(step, t, 0.02, y, error, NULL, NULL, &system);
        t += 0.02;
    }
    printf("%.17g %.17g\n", y[0], y[1]);
    gsl_odeiv2_step_free(step);
}

static double integrand(double x, void *parameters) { return exp(-x * x * *(double *)parameters) * cos(x); }

static void integral(void)
{
    double a = 1.2 + shift, result, error;
    size_t evaluations;
    gsl_function f = {integrand, &a};
    gsl_integration_qng(&f, 0, 2, 0, 1e-9, &result, &error, &evaluations);
    printf("%.17g\n", result);
}

static void interpolation(void)
{
    double x[6], y[6];
    for (int i = 0; i < 6; i++) x[i] = i, y[i] = sin(i + shift);
    gsl_spline *spline = gsl_spline_alloc(gsl_interp_cspline, 6);
    gsl_spline_init(spline, x, y, 6);
    printf("%.17g\n", gsl_spline_eval(spline, 2.3, NULL));
    gsl_spline_free(spline);
}

static void roots_and_matrices(void)
{
    double x0, x1, x2, m[9];
    gsl_poly_solve_cubic(-6.5, 11 + shift, -5 + shift, &x0, &x1, &x2);
    printf("%.17g %.17g %.17g\n", x0, x1, x2);
    for (int i = 0; i < 9; i++) m[i] = 1.0 / (i + 1) + (i % 4 == 0) + shift * i;
    gsl_matrix_view view = gsl_matrix_view_array(m, 3, 3);
    gsl_permutation *p = gsl_permutation_alloc(3);
    int sign;
    gsl_linalg_LU_decomp(&view.matrix, p, &sign);
    printf("%.17g\n", gsl_linalg_LU_det(&view.matrix, sign));
    gsl_permutation_free(p);
}

int main(int argc, char **argv)
{
    if (argc > 1) shift = strtod(argv[1], NULL);
    special_functions();
    differential_equation();
    integral();
    interpolation();
    roots_and_matrices();
}
