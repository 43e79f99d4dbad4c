// What functions of the C library say of floats with a derivative, zeros among them.
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>

#undef isnan
#undef isinf
#undef signbit

int isnan(double), isinf(double), isnanf(float), isinff(float), isnanl(long double), isinfl(long double);
int __signbit(double), __fpclassify(double), __signbitf(float), __fpclassifyl(long double);

double x = 1.5;

static int classes(double y)
{
    float narrow = (float)y;
    long double wide = y;
    int doubles = isnan(y) + 2 * isinf(y) + 4 * finite(y) + 8 * !!__signbit(y) + 16 * __fpclassify(y);
    int others = isnanf(narrow) + isinff(narrow) + finitef(narrow) + !!__signbitf(narrow);
    return doubles + others + isnanl(wide) + isinfl(wide) + finitel(wide) + __fpclassifyl(wide);
}

int main(void)
{
    int sum = 0;
    for (int i = -10; i < 100; i++) sum += classes(i * (x - 1.25) - (x - 1.5));
    printf("%d %.17g\n", sum, 2 * x);
    return 0;
}
