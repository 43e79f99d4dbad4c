// sin of a large number by the library: one operation, correctly done.
#include <math.h>
#include <stdio.h>
volatile double x = 1e22;
int main(void) { printf("%.17g %.17g\n", sin(x), cos(x)); }
