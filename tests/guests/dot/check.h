/* Shared by the guests of the derivative tests: a value and, beside it, what its derivative must be.
 *
 * KIND is the type under test: 4 float, 8 double, 10 long double. The input is the global `shift`; `at(p)` is p with
 * derivative 1. A guest prints lines `name value derivative`, where the derivative is a closed form in long double that
 * does not depend on the input. With an argument the input is that number instead of 0, for differences.
 * C++ prints by iostream, C by printf. `name~F` allows F times the usual error: many roundings, or a bad condition;
 * `name^` has no difference quotient: a step function, or one too coarse for it.
 */
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __cplusplus
#include <iomanip>
#include <iostream>
#endif

#ifndef KIND
#define KIND 8
#endif
typedef long double wide;
#if KIND == 4
typedef float real;
typedef double shown;
#define M(name) name##f
#define FORMAT "%.17g"
#elif KIND == 8
typedef double real;
typedef double shown;
#define M(name) name
#define FORMAT "%.17g"
#else
typedef long double real;
typedef long double shown;
#define M(name) name##l
#define FORMAT "%.21Lg"
#endif
#define W(name) name##l

real shift = 0;

static inline real at(double p) { return (real)p + shift; }

static __attribute__((noinline, unused)) void check(const char *name, real value, wide derivative)
{
#ifdef __cplusplus
    std::cout << std::setprecision(21) << name << ' ' << value << ' ' << (shown)derivative << '\n';
#else
    printf("%s " FORMAT " " FORMAT "\n", name, (shown)value, (shown)derivative);
#endif
}

/* The sum over many points of a function that is linear at each; `slope` is its factor there, ROUNDS their
 * number. */
#define SUM(name, expression, slope)                                   \
    do {                                                               \
        real sum = 0;                                                  \
        wide factors = 0;                                              \
        for (int i = 1; i <= ROUNDS; i++) {                            \
            const wide w = (i % 2 ? -1 : 1) * i * 0.15625L;            \
            const real x = (real)w + shift;                            \
            sum += (expression);                                       \
            factors += (slope);                                        \
        }                                                              \
        check(name, sum, factors);                                     \
    } while (0)

/* For each point p: x is p with derivative 1, w is p in long double. */
#define AT(name, value, derivative, ...)                                        \
    do {                                                                        \
        static const real points[] = {__VA_ARGS__};                             \
        for (unsigned i_ = 0; i_ < sizeof points / sizeof points[0]; i_++) {    \
            const real p_ = points[i_];                                         \
            real x = p_ + shift;                                                \
            wide w = p_;                                                        \
            (void)x, (void)w;                                                   \
            check(name, (value), (derivative));                                 \
        }                                                                       \
    } while (0)

static void checks(void);

int main(int argc, char **argv)
{
    if (argc > 1) shift = (real)strtold(argv[1], NULL);
    checks();
    return 0;
}

#endif
