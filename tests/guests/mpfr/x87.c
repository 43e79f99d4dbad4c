// Long doubles with errors in every form of arithmetic, move and comparison that the x87 stack has.
#include <math.h>
#include <stdio.h>

#define BINARY(NAME, CODE)                                                                                             \
    static long double NAME(long double a, long double b)                                                              \
    {                                                                                                                  \
        long double r;                                                                                                 \
        __asm__ volatile("fldt %2\n fldt %1\n" CODE "\n fstpt %0"                                                     \
                         : "=m"(r) : "m"(a), "m"(b) : "st", "st(1)", "st(2)", "st(3)");                                \
        return r;                                                                                                      \
    }
// The top is a, and b is below.
BINARY(subtracted, "fsub %%st(1), %%st\n fstp %%st(1)")
BINARY(subtracted_from, "fsubr %%st(1), %%st\n fxch\n fstp %%st")
BINARY(below, "fsub %%st, %%st(1)\n fstp %%st")
BINARY(below_reversed, "fsubr %%st, %%st(1)\n fstp %%st")
BINARY(popped, "fdivp")
BINARY(popped_reversed, "fdivrp")
BINARY(doubled, "fadd %%st, %%st\n faddp")
BINARY(negated, "fchs\n fmulp")
BINARY(rooted, "fabs\n fsqrt\n faddp")
BINARY(larger, "fcomi %%st(1), %%st\n fcmovb %%st(1), %%st\n fstp %%st(1)")
BINARY(copied, "fld %%st(1)\n fxch %%st(2)\n faddp\n fmulp")

int main(void)
{
    volatile float single = 0.1f;
    volatile double twice = 0.7;
    long double x = 0.3L, y = 1.7L, sum = 0;
    int above = 0;
    for (int i = 0; i < 40; i++) {
        sum += subtracted(x, y) * subtracted_from(y, x) + below(x, y) / below_reversed(x + 3, y);
        sum += popped(x, y) + popped_reversed(x, y) * doubled(y, x) - negated(x, y);
        sum += rooted(y, x) + larger(x, y) - copied(x, y);
        x = fabsl(x * single + y / twice - (double)sum * 1e-3);
        x = x / (1 + x) + 0.1f;
        y = (float)(1 + x / 3) + sqrtl(y) / 7;
        above += (x > 1) + (x < single) + (y != twice) + (sum > 0);
        twice = (double)(x * 0.7L) + 1;
        single = (float)(y - x);
    }
    printf("%.18Lg %.18Lg %.18Lg %d %.9g %.17g\n", x, y, sum, above, single, twice);
    return 0;
}
