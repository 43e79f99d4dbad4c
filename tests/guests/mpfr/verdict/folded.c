// All is computed by the compiler: there is nothing to say about it.
#include <stdio.h>
int main(void) { printf("%.17g\n", (0.1 + 0.2) / 3); }
