// fesetround governs float, double and long double arithmetic, conversions and printing.
//@ flags: -frounding-math
//@ libs: -lm
#include "guest.h"
#include <fenv.h>
#include <math.h>

static volatile float f1 = 1, f3 = 3;
static volatile double d1 = 1, d3 = 3, big = 123456789.5, half = 2.5;
static volatile long double l1 = 1, l3 = 3;
static volatile long odd = 0x7fffffffffffffff;

int main(void)
{
    static const int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    for (int i = 0; i < 4; i++) {
        CHECK(fesetround(modes[i]) == 0);
        float f = f1 / f3, sum = 0;
        double d = -d1 / d3, root = sqrt(d3), narrow = (float)d;
        long double l = l1 / l3;
        for (int k = 0; k < 1000; k++) sum += 0.1f;
        double converted = (double)odd;
        long rounded = lrint(half) * 10 + lrint(-half);
        CHECK(fegetround() == modes[i]);
        printf("%a %a %a %La %a %a %a %ld %.3f %.0f\n", f, sum, d, l, root, narrow, converted, rounded, d, big);
        CHECK(fegetround() == modes[i]);
    }
    return 0;
}
