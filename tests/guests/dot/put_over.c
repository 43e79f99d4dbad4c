/* Bytes of numbers with derivatives put over parts of others: counted, wherever the number is used that comes of it. All bytes of a
 * number put there, in any order, are that number. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.7;

/* Not known to the compiler: each call is one. */
#define KEPT __attribute__((noinline, noipa))

/* From byte number `at` on. */
#define PUT(type)                                                        \
    static KEPT void put_##type(double *to, const double *from, int at)  \
    {                                                                    \
        volatile const char *source = (const char *)from + at;           \
        *(volatile type *)((char *)to + at) = *(volatile type *)source;  \
    }
PUT(uint8_t)
PUT(uint16_t)
PUT(uint32_t)

static KEPT double twice(const double *value)
{
    return *(const volatile double *)value * 2;
}

/* Digits, of which constants have none and other numbers others. */
#define OVER(type, at)                                     \
    do {                                                   \
        double number = 1.1 * x, constant = 0.7, other = 3.3 * x; \
        put_##type(&constant, &number, at);                \
        sum += twice(&constant);                           \
        put_##type(&other, &number, at);                   \
        sum += twice(&other);                              \
    } while (0)

static KEPT double parts(void)
{
    double sum = 0;
    OVER(uint8_t, 0);
    OVER(uint8_t, 4);
    OVER(uint16_t, 2);
    OVER(uint32_t, 0);
    OVER(uint32_t, 2);
    return sum;
}

static KEPT double here(void)
{
    volatile double number = 1.1 * x, constant = 0.7;
    *(volatile uint32_t *)&constant = *(volatile uint32_t *)&number;
    return constant * 2;
}

static KEPT double whole(void)
{
    double number = 1.1 * x, a = 0.7, b = 0.7, c = 0.7;
    put_uint32_t(&a, &number, 0), put_uint32_t(&a, &number, 4);
    for (int at = 0; at < 8; at += 2) put_uint16_t(&b, &number, at);
    for (int at = 0; at < 8; at++) put_uint8_t(&c, &number, at);
    return twice(&a) + twice(&b) + twice(&c);
}

/* What is put back is what was there. */
static KEPT double put_back(void)
{
    double number = 1.1 * x, again = number, zero = 0;
    put_uint32_t(&again, &number, 0);
    double sum = twice(&again);
    again = number;
    put_uint32_t(&again, &zero, 0);
    sum += twice(&again);
    put_uint32_t(&again, &number, 0);
    return sum + twice(&again);
}

/* A number that is new, where another one was: its end first, and its digits after more code than is looked at together. */
#define FOUR(what) what what what what
static KEPT double fresh(double *place, uint64_t bits)
{
    ((volatile uint32_t *)place)[1] = bits >> 32;
    __asm__ volatile(FOUR(FOUR(FOUR(FOUR("add $1, %%rcx\n\t")))) ::: "rcx", "cc");
    ((volatile uint32_t *)place)[0] = bits;
    return *(volatile double *)place * 2;
}

int main(void)
{
    printf("%.17g %.17g\n", parts(), here());
    printf("%.17g %.17g\n", whole(), put_back());
    const double third = 1.0 / 3;
    uint64_t bits;
    memcpy(&bits, &third, sizeof bits);
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        double place = 1.1 * x;
        sum += fresh(&place, bits);
    }
    printf("%.17g\n", sum);
    return 0;
}
