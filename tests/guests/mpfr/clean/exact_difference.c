// A subtraction that cancels, of inputs that are exact: nothing is lost.
#include <stdio.h>
volatile double x = 1.0000000000000002, y = 1;
int main(void) { printf("%.17g\n", x - y); }
