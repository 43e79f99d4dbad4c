// Logarithms as vector libraries compute them: a reciprocal of the significand to twelve bits, rounded to a place in a table. Any place
// near would do: log m = log1p(m R - 1) - log R, and R is the float's.
#include <math.h>
#include <stdio.h>
#include <xmmintrin.h>

enum { PLACES = 512, COUNT = 100 };

static double table[PLACES + 1];
volatile double magic = 0x1.8p52;

static double rough(double x)
{
    return _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss((float)x)));
}

/* By a sum with 1.5 2^52, by an instruction that makes an integer, by a function. */
static __attribute__((noinline)) double rounded(double x, int way)
{
    if (way == 0) return x + magic - magic;
    if (way == 1) return (double)lrint(x);
    return nearbyint(x);
}

/* m has so few bits that m R is exact. */
static __attribute__((noinline)) double logarithm(double m, int way)
{
    double place = rounded(rough(m / PLACES), way);
    double h = m * place / PLACES - 1, term = h, sum = 0;
    for (int i = 1; i < 9; i++, term *= h) sum += (i % 2 ? term : -term) / i;
    return sum + table[(int)place];
}

int main(void)
{
    for (int i = PLACES / 2; i <= PLACES; i++) table[i] = log((double)PLACES / i);
    for (int way = 0; way < 3; way++) {
        for (int i = 1; i < COUNT; i++) {
            double m = 1 + i * 41 / 4096.0;
            printf("%.13f %.13f\n", logarithm(m, way), log(m));
        }
    }
    return 0;
}
