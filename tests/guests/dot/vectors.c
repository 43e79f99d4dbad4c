// Loops that compilers vectorise: maps, reductions, blends, strides, gathers, mixed widths.
#include "check.h"

enum { N = 37 };
static real a[N], b[N], c[N];
static float narrow[N];
static double broad[N];
static int whole[N];
static real table[3][N];

/* a: x times 1, 2, …; b: constants; both opaque to the compiler. */
static __attribute__((noinline)) void fill(real x)
{
    for (int i = 0; i < N; i++) {
        a[i] = x * (real)(i + 1);
        b[i] = (real)(i % 7) - 3;
        c[i] = 0;
        whole[i] = (i * 5) % N;
    }
}

static __attribute__((noinline)) real total(const real *v)
{
    real sum = 0;
    for (int i = 0; i < N; i++) sum += v[i];
    return sum;
}

/* Each returns the value of one element or a sum; x is 0 < x, ramp the sum of 1 … N. */
static const wide ramp = N * (N + 1) / 2;

static __attribute__((noinline)) real axpy(real x)
{
    fill(x);
    for (int i = 0; i < N; i++) c[i] = 3 * a[i] + b[i];
    return total(c);
}

static __attribute__((noinline)) real dot_product(real x)
{
    real sum = 0;
    fill(x);
    for (int i = 0; i < N; i++) sum += a[i] * a[i];
    return sum;
}

static __attribute__((noinline)) real quotients(real x)
{
    fill(x);
    for (int i = 0; i < N; i++) c[i] = (a[i] * a[i] + 1) / (a[i] + 2);
    return total(c);
}

static wide quotients_slope(wide x)
{
    wide sum = 0;
    // Well conditioned, unlike the slope of (a + 1) / (a + 2): -ffast-math divides by an estimate, whose error counts.
    for (int i = 1; i <= N; i++) {
        wide at = i * x;
        sum += i * (at * at + 4 * at - 1) / ((at + 2) * (at + 2));
    }
    return sum;
}

static __attribute__((noinline)) real roots(real x)
{
    fill(x);
    for (int i = 0; i < N; i++) c[i] = M(sqrt)(a[i]);
    return total(c);
}

static wide roots_slope(wide x)
{
    wide sum = 0;
    for (int i = 1; i <= N; i++) sum += i / (2 * W(sqrt)(i * x));
    return sum;
}

static __attribute__((noinline)) real largest(real x)
{
    real most = -1;
    fill(x);
    for (int i = 0; i < N; i++) most = a[i] > most ? a[i] : most;
    return most;
}

static __attribute__((noinline)) real smallest(real x)
{
    real least = 1000;
    fill(x);
    for (int i = 0; i < N; i++) least = a[i] < least ? a[i] : least;
    return least;
}

static __attribute__((noinline)) real blended(real x)
{
    fill(x);
    for (int i = 0; i < N; i++) c[i] = b[i] > 0 ? a[i] * b[i] : a[i];
    return total(c);
}

static wide blended_slope(void)
{
    wide sum = 0;
    for (int i = 0; i < N; i++) sum += (i + 1) * (i % 7 > 3 ? i % 7 - 3 : 1);
    return sum;
}

static __attribute__((noinline)) real absolute(real x)
{
    fill(x);
    for (int i = 0; i < N; i++) c[i] = M(fabs)(a[i] * b[i]) - M(copysign)(a[i], b[i] + (real)0.5);
    return total(c);
}

static wide absolute_slope(void)
{
    wide sum = 0;
    for (int i = 0; i < N; i++) {
        int factor = i % 7 - 3;
        sum += (i + 1) * (abs(factor) - (factor + 0.5 < 0 ? -1 : 1));
    }
    return sum;
}

static __attribute__((noinline)) real strided(real x)
{
    real sum = 0;
    fill(x);
    for (int i = 0; i + 2 < N; i += 3) sum += a[i] - 2 * a[i + 1] + 4 * a[i + 2];
    return sum;
}

static wide strided_slope(void)
{
    wide sum = 0;
    for (int i = 0; i + 2 < N; i += 3) sum += (i + 1) - 2 * (i + 2) + 4 * (i + 3);
    return sum;
}

static __attribute__((noinline)) real gathered(real x)
{
    fill(x);
    for (int i = 0; i < N; i++) c[i] = a[whole[i]] * (real)i;
    return total(c);
}

static wide gathered_slope(void)
{
    wide sum = 0;
    for (int i = 0; i < N; i++) sum += ((i * 5) % N + 1) * i;
    return sum;
}

static __attribute__((noinline)) real reversed(real x)
{
    fill(x);
    for (int i = 0; i < N; i++) c[i] = a[N - 1 - i] * (real)(i + 1);
    return total(c);
}

static wide reversed_slope(void)
{
    wide sum = 0;
    for (int i = 0; i < N; i++) sum += (N - i) * (i + 1);
    return sum;
}

static __attribute__((noinline)) real widened(real x)
{
    double sum = 0;
    fill(x);
    for (int i = 0; i < N; i++) narrow[i] = (float)a[i];
    for (int i = 0; i < N; i++) broad[i] = (double)narrow[i] * 2;
    for (int i = 0; i < N; i++) sum += broad[i];
    return (real)sum;
}

static __attribute__((noinline)) real with_integers(real x)
{
    fill(x);
    for (int i = 0; i < N; i++) c[i] = a[i] * (real)whole[i] + (real)(int)a[i];
    return total(c);
}

static wide with_integers_slope(void)
{
    wide sum = 0;
    for (int i = 0; i < N; i++) sum += (i + 1) * ((i * 5) % N);
    return sum;
}

static __attribute__((noinline)) real prefix_sums(real x)
{
    fill(x);
    c[0] = a[0];
    for (int i = 1; i < N; i++) c[i] = c[i - 1] + a[i];
    return total(c);
}

static wide prefix_slope(void)
{
    wide sum = 0;
    for (int i = 1; i <= N; i++) sum += i * (i + 1) / 2;
    return sum;
}

static __attribute__((noinline)) real stencil(real x)
{
    fill(x);
    for (int i = 0; i < N; i++) table[0][i] = a[i] * a[i];
    for (int k = 1; k < 3; k++)
        for (int i = 1; i < N - 1; i++) table[k][i] = (table[k - 1][i - 1] + table[k - 1][i + 1]) / 2 - table[k - 1][i];
    return table[1][7] + table[2][N / 2];
}

static __attribute__((noinline)) real polynomial(real x)
{
    fill(x);
    for (int i = 0; i < N; i++) c[i] = ((a[i] * (real)0.25 - 1) * a[i] + 2) * a[i] + 1;
    return total(c);
}

static wide polynomial_slope(wide x)
{
    wide sum = 0;
    for (int i = 1; i <= N; i++) sum += i * (0.75L * i * x * i * x - 2 * i * x + 2);
    return sum;
}

/* With -ffast-math these call libmvec. */
static __attribute__((noinline)) real functions(real x)
{
    fill(x);
    for (int i = 0; i < N; i++) c[i] = M(sin)(a[i]);
    for (int i = 0; i < N; i++) c[i] += M(exp)(-a[i]);
    for (int i = 0; i < N; i++) c[i] += M(log)(a[i] + 1);
    for (int i = 0; i < N; i++) c[i] += M(pow)(a[i], (real)1.5);
    return c[5] + c[N - 1];
}

static wide functions_slope(wide x)
{
    wide sum = 0;
    for (int i = 6; i <= N; i += N - 6)
        sum += i * (W(cos)(i * x) - W(exp)(-i * x) + 1 / (i * x + 1) + 1.5L * W(sqrt)(i * x));
    return sum;
}

static __attribute__((noinline)) real product(real x)
{
    real p[3][3], q[3][3], r[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) p[i][j] = x + (real)(i * 3 + j), q[i][j] = (real)(i - j) * x, r[i][j] = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++) r[i][j] += p[i][k] * q[k][j];
    return r[0][0] + 2 * r[1][2] + 4 * r[2][1];
}

static wide product_slope(wide x)
{
    const int at[3][3] = {{0, 0, 1}, {1, 2, 2}, {2, 1, 4}};
    wide sum = 0;
    for (int n = 0; n < 3; n++)
        for (int k = 0; k < 3; k++) sum += at[n][2] * (k - at[n][1]) * (2 * x + at[n][0] * 3 + k);
    return sum;
}

static void checks(void)
{
    AT("axpy", axpy(x), 3 * ramp, 0.75, 2.5);
    AT("dot-product", dot_product(x), 2 * w * N * (N + 1) * (2 * N + 1) / 6, 0.75, 2.5);
    AT("quotients~2", quotients(x), quotients_slope(w), 0.75, 2.5);
    AT("roots~2", roots(x), roots_slope(w), 0.75, 2.5);
    AT("largest", largest(x), N, 0.75, 2.5);
    AT("smallest", smallest(x), 1, 0.75, 2.5);
    AT("blended", blended(x), blended_slope(), 0.75, 2.5);
    AT("absolute", absolute(x), absolute_slope(), 0.75, 2.5);
    AT("strided", strided(x), strided_slope(), 0.75, 2.5);
    AT("gathered", gathered(x), gathered_slope(), 0.75, 2.5);
    AT("reversed", reversed(x), reversed_slope(), 0.75, 2.5);
    AT("widened^", widened(x), 2 * ramp, 0.75, 2.5);
    AT("with-integers^", with_integers(x), with_integers_slope(), 0.75, 2.5);
    AT("prefix-sums", prefix_sums(x), prefix_slope(), 0.75, 2.5);
    AT("stencil", stencil(x), 2 * w, 0.75, 2.5);
    AT("polynomial~4", polynomial(x), polynomial_slope(w), 0.75, 2.5);
    AT("functions~4", functions(x), functions_slope(w), 0.75, 0.05);
    AT("matrix-product~2", product(x), product_slope(w), 0.75, 2.5);
}
