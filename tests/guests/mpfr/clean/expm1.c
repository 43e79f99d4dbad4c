// The library functions made for small arguments.
#include <math.h>
#include <stdio.h>
volatile double x = 1e-12;
int main(void) { printf("%.17g %.17g\n", expm1(x) / x, log1p(x) / x); }
