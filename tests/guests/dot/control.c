// Derivatives through branches, loops, recursion, jumps and calls of every kind.
#include "check.h"
#include <setjmp.h>
#include <stdarg.h>

static real branches(real x)
{
    if (x < 0) return 2 + x;
    if (x < 1) return 2 * x;
    if (x > 10)
        x = x * x;
    else
        x = x / 2;
    return x + 1;
}

static real choose(real x, int which)
{
    switch (which) {
    case 0: return x;
    case 1: return x * x;
    case 2: x += 1; /* fall through */
    case 3: return 3 * x;
    case 4: return -x;
    case 5: return 1 / x;
    default: return 7;
    }
}

static wide choice_slope(wide x, int which)
{
    const wide slopes[] = {1, 2 * x, 3, 3, -1, -1 / (x * x), 0};
    return slopes[which];
}

static real factorial_like(real x, int n) { return n == 0 ? 1 : x * n * factorial_like(x, n - 1); }

static real fibonacci_like(real x, int n)
{
    return n < 2 ? x : fibonacci_like(x, n - 1) + fibonacci_like(x, n - 2) / 2;
}

static wide fibonacci_slope(int n) { return n < 2 ? 1 : fibonacci_slope(n - 1) + fibonacci_slope(n - 2) / 2; }

/* The loop's length depends on the input, its derivative is that of the path taken. */
static real until(real x, real limit, int *count)
{
    real sum = 0;
    for (*count = 0; sum < limit; ++*count) sum += x;
    return sum;
}

static real sum_until(real x, real limit)
{
    int count;
    return until(x, limit, &count);
}

static int count_until(real x, real limit)
{
    int count;
    until(x, limit, &count);
    return count;
}

static real twice(real x) { return 2 * x; }
static real square(real x) { return x * x; }
static real one_over(real x) { return 1 / x; }

static real through_pointer(real x, int which)
{
    real (*volatile table[])(real) = {twice, square, one_over};
    return table[which](x);
}

static real variadic(int n, ...)
{
    va_list list;
    real sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++) sum += (real)va_arg(list, shown) * (real)(i + 1);
    va_end(list);
    return sum;
}

static real labels(real x)
{
    int n = 0;
again:
    x = x * (real)1.5;
    if (++n < 4) goto again;
    return x;
}

static jmp_buf environment;
static real carried;

static __attribute__((noinline)) void leap(real x)
{
    carried = x * x;
    longjmp(environment, 1);
}

static real over_a_jump(real x)
{
    volatile real kept = 3 * x;
    if (setjmp(environment) == 0) leap(x);
    return carried + kept;
}

static int ascending(const void *a, const void *b)
{
    real x = *(const real *)a, y = *(const real *)b;
    return (x > y) - (x < y);
}

static real second_smallest(real x)
{
    real a[] = {4, x * x, 1, 2 * x, 9};
    qsort(a, 5, sizeof a[0], ascending);
    return a[1];
}

/* Fourteen floating-point arguments: some travel on the stack. */
static __attribute__((noinline)) real many(real a, real b, real c, real d, real e, real f, real g, real h, real i, real j,
                                           real k, real l, real m, real n)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l + 13 * m + 14 * n;
}

static real escape(real x)
{
    real z = 0;
    for (int i = 0; i < 50; i++) {
        z = z * z + x;
        if (z > 4) break;
    }
    return z;
}

static wide escape_slope(wide x)
{
    wide z = 0, d = 0;
    for (int i = 0; i < 50; i++) {
        d = 2 * z * d + 1, z = z * z + x;
        if (z > 4) break;
    }
    return d;
}

static void checks(void)
{
    AT("branches", branches(x), w < 0 ? 1 : w < 1 ? 2 : w > 10 ? 2 * w : 0.5L, -1.5, 0.25, 3, 12);
    for (int i = 0; i < 7; i++) AT("switch", choose(x, i), choice_slope(w, i), 0.75, -2.5);
    AT("recursion", factorial_like(x, 5), 120 * 5 * W(pow)(w, 4), 0.75, -2.5);
    AT("double-recursion", fibonacci_like(x, 9), fibonacci_slope(9), 0.75, -2.5);
    AT("loop-length", sum_until(x, 10), count_until(p_, 10), 0.75, 2.3);
    for (int i = 0; i < 3; i++)
        AT("function-pointer", through_pointer(x, i), i == 0 ? 2 : i == 1 ? 2 * w : -1 / (w * w), 0.75, -2.5);
    AT("variadic", variadic(4, (shown)x, 1.0 * (shown)1, (shown)(x * x), (shown)2), 1 + 6 * w, 0.75, -2.5);
    AT("goto", labels(x), 5.0625L, 0.75, -2.5);
    AT("longjmp", over_a_jump(x), 2 * w + 3, 0.75, -2.5);
    AT("sort", second_smallest(x), w > 1 ? 2 * w : w > 0.5L ? 0 : 2, 1.75, 0.75, 0.25);
    AT("many-arguments", many(x, 1, x, 2, x, 3, x, 4, x, 5, x, 6, x, 7), 1 + 3 + 5 + 7 + 9 + 11 + 13, 0.75, -2.5);
    AT("iteration~8", escape(x), escape_slope(w), -0.5, 0.2);
    AT("and-or", (x > 0 && x < 1) || x > 5 ? x * 3 : x * 5, (w > 0 && w < 1) || w > 5 ? 3 : 5, 0.75, 2, 7);
}
