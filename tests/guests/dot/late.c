/* A place that has put bytes into what is no number a hundred times, beside derivatives, puts some into a number then. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

double x = 1.7;

#define KEPT __attribute__((noinline, noipa))

/* What was there before had a derivative. */
static KEPT void put(void *to, int at, int byte) { ((volatile uint8_t *)to)[at] = byte; }
static KEPT void put_word(void *to, int at, int word) { *(volatile uint32_t *)((char *)to + at) = word; }

static KEPT unsigned as_bytes(double *place, void (*by)(void *, int, int))
{
    unsigned sum = 0;
    *(volatile double *)place = 1.1 * x;
    by(place, 4, 0x12);
    sum += ((volatile uint8_t *)place)[4];
    return sum;
}

static KEPT double as_number(double *place, void (*by)(void *, int, int), int at, int value)
{
    *(volatile double *)place = 1.1 * x;
    by(place, at, value);
    return *(volatile double *)place * 2;
}

int main(void)
{
    double place;
    unsigned sum = 0;
    for (int i = 0; i < 100; i++) sum += as_bytes(&place, put), sum += as_bytes(&place, put_word);
    printf("%u\n", sum);
    printf("%.17g\n", as_number(&place, put, 7, 0x41));
    printf("%.17g\n", as_number(&place, put, 0, 0x41));
    printf("%.17g\n", as_number(&place, put_word, 4, 0x40290000));
    printf("%.17g\n", as_number(&place, put_word, 0, 0x123));
    return 0;
}
