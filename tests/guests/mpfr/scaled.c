// Floats that the C library scales by powers of two, and takes fractions of, often: with errors of all sizes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    double large = atof("3e15"), third = atof("1") / 3;
    double sum = 0, wrong = 0, fractions = 0, small = 0;
    float narrow = 0, narrower = 0;
    for (int i = -60; i < 60; i++) {
        int exponent;
        sum += ldexp(third * i, i % 7) - scalbln(third, -i % 5) + scalbn(third, 3);
        wrong = frexp(ldexp((large + third * i) - large, i), &exponent);
        fractions += frexp(third * i * i, &exponent) + exponent;
        narrow += ldexpf(frexpf((float)third * (float)i, &exponent), exponent % 4);
        small = ldexp(third + i, -900 - abs(i % 4));
        narrower = ldexpf((float)third + (float)i, -90);
        if (i % 8 == 0) printf("%.17g %.17g %.9g\n", wrong, small, narrower);
    }
    printf("%.17g\n%.17g\n%.9g\n", sum, fractions, narrow);
    return 0;
}
