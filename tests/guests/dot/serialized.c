// Doubles written byte by byte and by halves, each byte by an instruction of its own, often enough that the code is made anew.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TIMES = 3000 };

double x = 1.5;

#define KEPT __attribute__((noinline, noipa))

static KEPT double by_bytes(double x)
{
    volatile unsigned char bytes[8];
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
#define PUT(n) bytes[n] = (unsigned char)(bits >> 8 * (n))
    PUT(0), PUT(1), PUT(2), PUT(3), PUT(4), PUT(5), PUT(6), PUT(7);
    memcpy(&x, (void *)bytes, sizeof x);
    return 2 * x;
}

static KEPT double by_halves(const double *x)
{
    const volatile uint32_t *from = (const volatile uint32_t *)x;
    volatile uint32_t to[2];
    to[1] = from[1] + (1 << 20);
    to[0] = from[0];
    double sum;
    memcpy(&sum, (void *)to, sizeof sum);
    return 1 + sum;
}

int main(void)
{
    double bytes = 0, halves = 0;
    for (int i = 0; i < TIMES; i++) {
        volatile double term = (i % 7 - 3.3) * x;
        bytes += by_bytes(term), halves += by_halves((const double *)&term);
    }
    printf("%.17g\n%.17g\n", bytes, halves);
}
