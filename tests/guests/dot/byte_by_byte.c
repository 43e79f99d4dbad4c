// Doubles copied and swapped byte by byte, often enough for that to be known of the loop; at last one of which the loop puts down but some
// bytes: what is left of the other is a number that nobody meant.
#include <stdio.h>
#include <string.h>

double x = 0.75;

/* Not known to the compiler: each call is one. */
#define KEPT __attribute__((noinline, noipa))

static KEPT void swap(char *a, char *b, unsigned long bytes)
{
    do {
        char kept = *a;
        *a++ = *b;
        *b++ = kept;
    } while (--bytes > 0);
}

static KEPT void copy(char *to, const char *from, unsigned long bytes)
{
    for (unsigned long n = 0; n < bytes; n++) {
        to[n] = from[n];
        __asm__ volatile("" ::: "memory");
    }
}

static KEPT void look_at(double value) { printf("%.17g\n", value); }

int main(void)
{
    /* The same double again and again. Soon it is 1.5, and its derivative 2: of either most bytes are zero. */
    double last = x;
    for (int round = 0; round < 200; round++) {
        volatile double from = last, to = 0;
        for (unsigned long n = 0; n < sizeof to; n++)
            ((volatile char *)&to)[n] = ((volatile char *)&from)[n];
        last = to * 0.5 + x;
    }
    look_at(last);
    enum { COUNT = 64 };
    double a[COUNT], b[COUNT];
    for (int n = 0; n < COUNT; n++) a[n] = x * (n + 1), b[n] = x * x;
    /* Derivatives of which most bytes are zero, and others. */
    for (int round = 0; round < 20; round++) {
        for (int n = 0; n < COUNT; n++) swap((char *)&a[n], (char *)&b[(n + 1) % COUNT], sizeof *a);
        copy((char *)a, (const char *)b, sizeof a);
        b[round] = x * round;
    }
    look_at(a[5]);
    look_at(b[6]);
    look_at(a[40] + b[50]);
    volatile unsigned long some = 5;
    copy((char *)&a[7], (const char *)&b[3], some);
    copy((char *)&a[8], (const char *)&b[4], sizeof *a);
    look_at(a[7]);
    return 0;
}
