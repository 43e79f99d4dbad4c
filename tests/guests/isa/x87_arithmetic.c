// x87 arithmetic, constants, comparisons, conversions and transcendentals, to all 64 bits.
//@ libs: -lm
#include "guest.h"
#include <math.h>

static void show(const char *name, long double x)
{
    unsigned short exponent;
    uint64_t significand;
    memcpy(&significand, &x, 8);
    memcpy(&exponent, (char *)&x + 8, 2);
    printf("%-8s %04x %016lx\n", name, exponent, significand);
}

#define ONE(name, instruction, x)                                             \
    do {                                                                      \
        long double result_;                                                  \
        __asm__(instruction : "=t"(result_) : "0"((long double)(x)));         \
        show(name, result_);                                                  \
    } while (0)
#define TWO(name, instruction, x, y)                                          \
    do {                                                                      \
        long double result_;                                                  \
        __asm__(instruction : "=t"(result_) : "0"((long double)(x)), "u"((long double)(y)) : "st(1)"); \
        show(name, result_);                                                  \
    } while (0)
#define CONSTANT(instruction)                                                 \
    do {                                                                      \
        long double result_;                                                  \
        __asm__(instruction : "=t"(result_));                                 \
        show(instruction, result_);                                           \
    } while (0)

static void compares(long double a, long double b)
{
    unsigned short status;
    unsigned char below, equal, unordered;
    __asm__("fucom %%st(1)\n fnstsw %0" : "=a"(status) : "t"(a), "u"(b));
    __asm__("fucomi %%st(1), %%st\n setb %0\n sete %1\n setp %2" : "=q"(below), "=q"(equal), "=q"(unordered) : "t"(a), "u"(b) : "cc");
    printf("%04x %d%d%d\n", status & 0x4500, below, equal, unordered);
}

static void integers(long double x)
{
    short s;
    int i;
    long l;
    unsigned char decimal[10];
    __asm__("fld %4\n fists %0\n fistl %1\n fld %%st\n fistpq %2\n fbstp %3"
            : "=m"(s), "=m"(i), "=m"(l), "=m"(decimal) : "f"(x) : "st");
    long double back;
    __asm__("fbld %1" : "=t"(back) : "m"(decimal));
    printf("%d %d %ld %02x%02x %.0Lf\n", s, i, l, decimal[1], decimal[0], back);
}

int main(void)
{
    volatile long double third = 1.0L / 3, big = 1e300L, tiny = 1e-4940L, negative = -2.75L;
    show("+", third + negative);
    show("*", big * big * third);
    show("/", negative / tiny);
    show("-", tiny - third * tiny);
    ONE("fsqrt", "fsqrt", third);
    ONE("fabs", "fabs", negative);
    ONE("fchs", "fchs", third);
    ONE("frndint", "frndint", negative);
    ONE("fsin", "fsin", 0.7L);
    ONE("fcos", "fcos", 123.456L);
    ONE("f2xm1", "f2xm1", third);
    ONE("fxtract", "fxtract\n fstp %%st(1)", 100.0L);
    TWO("fprem", "fprem", 1000.3L, 7.1L);
    TWO("fprem1", "fprem1", 1000.3L, 7.1L);
    TWO("fscale", "fscale", 1.1L, 10.0L);
    long double result;
    __asm__("fyl2x" : "=t"(result) : "0"(third), "u"(negative) : "st(1)");
    show("fyl2x", result);
    __asm__("fyl2xp1" : "=t"(result) : "0"(0.1L), "u"(third) : "st(1)");
    show("fyl2xp1", result);
    __asm__("fpatan" : "=t"(result) : "0"(third), "u"(2.5L) : "st(1)");
    show("fpatan", result);
    __asm__("fptan\n fstp %%st(0)" : "=t"(result) : "0"(1.1L));
    show("fptan", result);
    CONSTANT("fldpi");
    CONSTANT("fldl2e");
    CONSTANT("fldlg2");
    CONSTANT("fldln2");
    CONSTANT("fldz");
    compares(third, big);
    compares(big, third);
    compares(third, third);
    compares(third, NAN);
    integers(1234.5L);
    integers(-7.5L);
    printf("%.20Lf %.20Lf %.20Lf\n", sinl(1), expl(1), powl(2, 0.5L));
    return 0;
}
