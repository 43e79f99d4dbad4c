// Loops of calls of the C library's functions: of long doubles, of two results, and single x87 instructions. Operands vary, or stay.
#define COUNT 8
double x[COUNT] = {0.731, 1.217, 0.583, 1.491, 0.877, 1.129, 0.659, 1.343};
#include "moved.h"
#include <math.h>

enum { TURNS = 4000 };

static long double sine(long double a)
{
    __asm__("fsin" : "+t"(a));
    return a;
}

static long double both(long double a)
{
    long double cosine, result;
    __asm__("fsincos" : "=t"(cosine), "=u"(result) : "0"(a));
    return result + 2 * cosine;
}

static long double logarithm(long double a, long double b)
{
    __asm__("fyl2x" : "+t"(a) : "u"(b) : "st(1)");
    return a;
}

/* The sum of `term` over many turns, in each of which a differs. */
#define SUM(term)                                                                                 \
    do {                                                                                          \
        long double sum = 0;                                                                      \
        for (int i = 0; i < TURNS; i++) {                                                         \
            const double a = x[i % COUNT] * (1 + i % 5);                                          \
            sum += (term);                                                                        \
        }                                                                                         \
        printf("%.17g\n", (double)sum);                                                           \
    } while (0)

static double part(double a)
{
    double whole;
    const double rest = modf(3 * a, &whole);
    return rest * whole;
}

static long double long_part(long double a)
{
    long double whole;
    const long double rest = modfl(5 * a, &whole);
    return rest + whole;
}

static long double fraction(long double a)
{
    int exponent;
    const long double significand = frexpl(a, &exponent);
    return significand * exponent;
}

static void compute(void)
{
    SUM(part(a));
    SUM(long_part(a));
    SUM(expl(a / 5) * sinl(a));
    SUM(expl(x[3]) + powl(x[2], x[1]) + tanl(x[0]));
    SUM(powl(a, 1.5L) + fmal(a, a, a));
    SUM(ldexpl(a, i % 3) + scalbln(a, -2) + fraction(a));
    SUM(a * lroundl(16 * a) + floorl(a) + floor(3 * a));
    SUM(sine(a) + both(a));
    SUM(logarithm(a, x[0]) + sine(x[5]));
}
