// Every form of arithmetic on the x87 stack, more often than it is looked at, and what its roundings come to.
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ASM __asm__ volatile
#define ALL "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "memory"

typedef long double real;

/* Prints what is left of a number when its first digits are taken off, so that its error is seen. */
static void show(const char *name, real x)
{
    double first = (double)x;
    printf("%s %.21Lg %.21Lg\n", name, x, x - first);
}

static void stack(real a, real b, float f, double d, real *sums)
{
    real r;
    ASM("fldt %1; fldt %2; faddp; fstpt %0" : "=m"(r) : "m"(a), "m"(b) : ALL);
    sums[0] += r;
    ASM("fldt %1; fldt %2; fsubp; fstpt %0" : "=m"(r) : "m"(a), "m"(b) : ALL);
    sums[1] += r;
    ASM("fldt %1; fldt %2; fsubrp; fstpt %0" : "=m"(r) : "m"(a), "m"(b) : ALL);
    sums[2] += r;
    ASM("fldt %1; fldt %2; fmulp; fstpt %0" : "=m"(r) : "m"(a), "m"(b) : ALL);
    sums[3] += r;
    ASM("fldt %1; fldt %2; fdivp; fstpt %0" : "=m"(r) : "m"(a), "m"(b) : ALL);
    sums[4] += r;
    ASM("fldt %1; fldt %2; fdivrp; fstpt %0" : "=m"(r) : "m"(a), "m"(b) : ALL);
    sums[5] += r;
    ASM("fldt %1; fabs; fsqrt; fchs; fstpt %0" : "=m"(r) : "m"(a) : ALL);
    sums[6] += r;
    ASM("fldt %1; fadds %2; fmull %3; fsubrs %2; fdivl %3; fdivrl %3; fstpt %0"
        : "=m"(r) : "m"(a), "m"(f), "m"(d) : ALL);
    sums[7] += r;
    ASM("fldt %1; fmul %%st(0), %%st; fadd %%st(0), %%st; fstpt %0" : "=m"(r) : "m"(a) : ALL);
    sums[8] += r;
    /* A result that is not the top, without a pop; copies and exchanges; eight registers in use. */
    ASM("fldt %1; fldt %2; fadd %%st, %%st(1); fsubr %%st(1), %%st; fxch; fld %%st(0); fmul %%st(2), %%st;"
        "fldt %1; fldt %2; fld1; fldpi; fldl2e; faddp; fsubp; fmulp; fdivp; faddp; faddp; fmulp; fstpt %0"
        : "=m"(r) : "m"(a), "m"(b) : ALL);
    sums[9] += r;
    ASM("fldt %1; fldt %2; fcomi %%st(1), %%st; fcmovb %%st(1), %%st; fstp %%st(1); fstpt %0"
        : "=m"(r) : "m"(a), "m"(b) : "cc", ALL);
    sums[10] += r;
    ASM("fldt %1; fldt %2; faddp; fstl %0; fstp %%st(0)" : "=m"(d) : "m"(a), "m"(b) : ALL);
    sums[11] += d;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 600;
    real sums[12] = {0};
    for (int i = 1; i <= rounds; i++) {
        real a = 1 + 1 / (real)(i + 2), b = 1 / (real)(2 * i + 1) - (i % 3 ? 0 : 1);
        /* Another precision of the stack's arithmetic, and another rounding. */
        unsigned short usual, other;
        ASM("fnstcw %0" : "=m"(usual));
        other = i % 7 == 3 ? usual & ~0x100 : i % 7 == 5 ? usual | 0x400 : usual;
        ASM("fldcw %0" : : "m"(other));
        stack(i % 2 ? a : -a * 1e9L, b, 1.5f + 1.0f / i, 0.1 + i, sums);
        ASM("fldcw %0" : : "m"(usual));
    }
    for (int n = 0; n < 12; n++) {
        char name[8];
        snprintf(name, sizeof name, "%d", n);
        show(name, sums[n]);
    }
    return 0;
}
