// Quotients of complex numbers by libgcc, which scales by powers of two where a part of the numerator is zero: a divisor of 1 or
// 1.5 becomes a number that others use to round with. Printed is how far they are from the closed form.
#include <complex.h>
#include <stdio.h>

volatile double one = 1, half = 0.5, third = 3, zero = 0;

static void compare(double divisor, double t)
{
    const double complex z = (one + I * zero) / (divisor + I * t);
    const double square = divisor * divisor + t * t;
    printf("w=[%.3g] r={%.3g}\n", (creal(z) - divisor / square) * 1e17, zero);
    printf("w=[%.3g] r={%.3g}\n", (cimag(z) + t / square) * 1e17, zero);
}

int main(void)
{
    for (int i = 1; i <= 8; i++) {
        compare(one, i / third);
        compare(one + half, i / third / 10);
    }
}
