// Memory that held a double with a derivative is used again for a truth value, of which one byte is written and four are read, and for the
// integers that `frexp`, `remquo` and `lgamma_r` return, above it or below.
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>

double x = 1.5;

#define APART __attribute__((noinline, noipa))

typedef union {
    double number;
    int ints[2];
    unsigned char bytes[8];
} slot;

static APART unsigned flag(slot *s, double x, int at)
{
    s->number = x;
    s->bytes[at] = 1;
    unsigned flag;
    __asm__ volatile("movl %1, %0\n\tandl $1, %0" : "=r"(flag) : "m"(s->bytes[at]), "m"(*s) : "cc");
    return flag;
}

static APART int exponent(slot *s, double x, int half)
{
    s->number = x;
    (void)(frexp)(x, &s->ints[half]);
    __asm__ volatile("" : : "r"(s) : "memory");
    return s->ints[half] + 1;
}

static APART int exponent_long(slot *s, long double x, int half)
{
    s->number = (double)x;
    (void)(frexpl)(x, &s->ints[half]);
    __asm__ volatile("" : : "r"(s) : "memory");
    return s->ints[half] + 1;
}

static APART int quotient(slot *s, double x, int half)
{
    s->number = x;
    (void)(remquo)(x, 0.25, &s->ints[half]);
    __asm__ volatile("" : : "r"(s) : "memory");
    return s->ints[half] + 1;
}

static APART int sign(slot *s, float x, int half)
{
    s->number = x;
    (void)(lgammaf_r)(x, &s->ints[half]);
    __asm__ volatile("" : : "r"(s) : "memory");
    return s->ints[half] + 1;
}

int main(void)
{
    slot s;
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        double y = x * (1 + i / 7.0);
        sum += (int)flag(&s, y, 0) + (int)flag(&s, y, 4);
        sum += quotient(&s, y, 0) + quotient(&s, y, 1) + sign(&s, (float)y, 0) + sign(&s, (float)y, 1);
        sum += exponent(&s, y, 0) + exponent(&s, y, 1) + exponent_long(&s, y, 0) + exponent_long(&s, y, 1);
    }
    printf("%d %.17g\n", sum, 2 * x);
    return 0;
}
