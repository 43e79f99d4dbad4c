// Loops whose numbers go from turn to turn in registers: sums, compensated ones, numbers that change places, ways out in
// the midst, signals and faults while they run.
#include "check.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#define ITEMS 96

static real items[ITEMS];
static volatile sig_atomic_t ticks;
static char *page;

static void tick(int signal)
{
    (void)signal;
    ticks++;
}

/* Makes the page accessible; what faulted is run again. */
static void fault(int signal)
{
    (void)signal;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static __attribute__((noinline)) real sum(const real *x, int n)
{
    real s = 0;
    for (int i = 0; i < n; i++) s += x[i] * x[i];
    return s;
}

static __attribute__((noinline)) real compensated(const real *x, int n)
{
    real s = 0, c = 0;
    for (int i = 0; i < n; i++) {
        volatile real y = x[i] - c;
        volatile real t = s + y;
        c = (t - s) - y;
        s = t;
    }
    return s;
}

/* Three numbers that change places each turn: none is where it was. */
static __attribute__((noinline)) real round_about(real a, real b, real c, int n)
{
    for (int i = 0; i < n; i++) {
        real first = a;
        a = b;
        b = c;
        c = first * (real)0.5 + a * (real)0.25;
    }
    return a + 2 * b + 4 * c;
}

/* Two that change places, and nothing else. */
static __attribute__((noinline)) real swapped(real a, real b, int n)
{
    for (int i = 0; i < n; i++) {
        real first = a;
        a = b;
        b = -first;
    }
    return a + 3 * b;
}

static __attribute__((noinline)) real until(const real *x, int n, real limit)
{
    real s = 0;
    for (int i = 0; i < n; i++) {
        s += x[i];
        if (s > limit) return s * 2;
    }
    return s;
}

/* Turns until the clock has ticked, at least once: the limit is reached by then. */
static __attribute__((noinline)) real until_tick(real x)
{
    real s = 0;
    for (long i = 0; i < 5000 || ticks < 3; i++) s = s * (real)0.5 + x;
    return s;
}

static __attribute__((noinline)) real across_fault(const real *x, real *to, int n)
{
    real s = 0, p = 1;
    for (int i = 0; i < n; i++) {
        s += x[i];
        p = p * (real)0.5 + s;
        to[i] = p;
    }
    return s + p;
}

/* Infinities and numbers that are none on the way, of what has no derivative. */
static __attribute__((noinline)) real beside_infinity(const real *x, const real *y, int n)
{
    real s = 0, rest = 0;
    for (int i = 0; i < n; i++) {
        rest += y[i] * y[i];
        s += x[i] * (real)1.5;
    }
    volatile real kept = rest;
    (void)kept;
    return s;
}

static void checks(void)
{
    for (int i = 0; i < ITEMS; i++) items[i] = at(0.125 * i - 2);
    wide linear = 0, square = 0;
    for (int i = 0; i < ITEMS; i++) linear += 1, square += 2 * (0.125L * i - 2);
    check("sum~4", sum(items, ITEMS), square);
    check("compensated~4", compensated(items, ITEMS), linear);
    for (int n = 0; n < 8; n++) {
        wide a = 1, b = 2, c = 3;
        for (int i = 0; i < n; i++) {
            wide first = a;
            a = b, b = c, c = first * 0.5L + a * 0.25L;
        }
        real x = at(0.5);
        check("round_about~4", round_about(x, 2 * x, 3 * x, n), a + 2 * b + 4 * c);
        wide p = 1, q = 2;
        for (int i = 0; i < n; i++) {
            wide first = p;
            p = q, q = -first;
        }
        check("swapped", swapped(x, 2 * x, n), p + 3 * q);
    }
    check("until~4", until(items + 16, ITEMS - 16, 20), 2 * 19);
    struct sigaction action = { .sa_handler = tick };
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = { { 0, 2000 }, { 0, 2000 } };
    setitimer(ITIMER_REAL, &often, NULL);
    check("until_tick~4", until_tick(at(1.5)), 2);
    setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    action.sa_handler = fault;
    sigaction(SIGSEGV, &action, NULL);
    wide s = 0, p = 1, ds = 0, dp = 0;
    for (int i = 0; i < ITEMS; i++) {
        s += 0.125L * i - 2, ds += 1;
        p = p * 0.5L + s, dp = dp * 0.5L + ds;
    }
    real *to = (real *)page;
    check("across_fault~4", across_fault(items, to, ITEMS), ds + dp);
    check("stored~4", to[ITEMS - 1], dp);
    real y[ITEMS];
    for (int i = 0; i < ITEMS; i++) y[i] = i == 40 ? (real)INFINITY : i == 60 ? (real)NAN : (real)i;
    check("beside_infinity~4", beside_infinity(items, y, ITEMS), 1.5L * ITEMS);
}
