// Nothing is wrong.
// CLEAN
#include <stdio.h>
volatile double third = 1.0 / 3;
int main(void) { printf("%.15g\n", third * 1.5); }
