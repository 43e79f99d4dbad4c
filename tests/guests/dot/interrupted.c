// Derivatives of floats that are in registers, just computed, when code is left in the middle: by a fault whose handler computes as
// well, by a branch, and by a load of bits that have a derivative into a general register; and of floats of two formats in one loop.
#include "check.h"
#include <signal.h>
#include <sys/mman.h>

#if KIND == 10
#define KEEP(t) __asm__ volatile("" : "+t"(t))
#else
#define KEEP(t) __asm__ volatile("" : "+x"(t))
#endif

#define PAGE 4096

static volatile real *guarded;
static volatile real held, of_handler;

static void unlock(int signal)
{
    (void)signal;
    real h = held;
    of_handler = h * h + h;
    mprotect((void *)guarded, PAGE, PROT_READ | PROT_WRITE);
}

static real over_a_fault(real x)
{
    mprotect((void *)guarded, PAGE, PROT_NONE);
    real t = x * x;
    t = t * 3 + x;
    KEEP(t);
    real two = *guarded;
    t = t * two + x;
    KEEP(t);
    return t * x;
}

static real over_branches(real x, int n)
{
    real t = x;
    for (int i = 0; i < n; i++) {
        t = t * x;
        KEEP(t);
        if (i & 1) {
            t = t + x;
            KEEP(t);
        }
        if (i == 5) return t * 2;
    }
    return t;
}

static real over_a_word(real x)
{
    volatile union {
        real x;
        uint64_t word;
        uint32_t half;
    } cell, copy;
    cell.x = x;
    copy.x = 0;
    real t = x * x;
    KEEP(t);
    if (KIND == 8) {
        uint64_t word = cell.word;
        t = t * x;
        KEEP(t);
        copy.word = word;
    } else if (KIND == 4) {
        uint32_t half = cell.half;
        t = t * x;
        KEEP(t);
        copy.half = half;
    } else {
        t = t * x;
        copy.x = x;
    }
    return t + copy.x;
}

/* Floats of four and of eight bytes in one loop, at addresses that advance. */
static real mixed(real x)
{
    static float narrow[64];
    static double wide_ones[64];
    for (int i = 0; i < 64; i++) {
        narrow[i] = (float)(x * i);
        wide_ones[i] = (double)x * (i + 1);
    }
    static volatile double factor;
    factor = (double)x;
    double sum = 0;
    for (int i = 0; i < 64; i++) sum += (double)narrow[i] * 3 + wide_ones[63 - i] * (i + 1);
    for (int i = 0; i < 64; i++) sum += (double)narrow[i] * 5 + factor * (i + 2);
    return (real)sum;
}

/* Its derivative. */
static wide mixed_slope(void)
{
    wide sum = 0;
    for (int i = 0; i < 64; i++) sum += 3 * i + (64 - i) * (i + 1) + 5 * i + i + 2;
    return sum;
}

static real branches(real x, int n)
{
    real t = x;
    for (int i = 0; i < n; i++) t = i & 1 ? t * x + x : t * x;
    return t;
}

/* Its derivative. */
static wide slope(wide x, int n)
{
    wide t = x, d = 1;
    for (int i = 0; i < n; i++) {
        d = i & 1 ? d * x + t + 1 : d * x + t;
        t = i & 1 ? t * x + x : t * x;
        if (i == 5) return 2 * d;
    }
    return d;
}

static void checks(void)
{
    guarded = (real *)mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *guarded = 2;
    signal(SIGSEGV, unlock);
    for (int turn = 0; turn < 3; turn++) {
        held = (real)1.5 + shift;
        AT("fault", over_a_fault(x), 18 * w * w + 6 * w, 0.5, -1.25, 3);
        check("handler", of_handler, 4);
        AT("word", over_a_word(x), 3 * w * w + 1, 0.5, -1.25, 3);
        AT("odd", over_branches(x, 3), slope(w, 3), 0.5, -1.25);
        AT("left", over_branches(x, 9), slope(w, 9), 0.5, -1.25);
        AT("mixed^", mixed(x), mixed_slope(), 0.5, -1.25);
        AT("whole", branches(x, 5), slope(w, 5), 0.5, -1.25);
    }
}
