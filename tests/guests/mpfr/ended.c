// A float with a large error whose sign and exponent are put together with others, in registers or in memory: of which real it is the float is not known.
#include <stdint.h>
#include <stdio.h>

volatile double x = 11.5, large = 30000000.0;

__attribute__((noinline)) double ended(double x)
{
    union { double x; uint16_t quarters[4]; } parts = {x};
    parts.quarters[3] = (parts.quarters[3] & 0xf) | 0x3ff0;
    return parts.x;
}

int main(void)
{
    printf("%.17g\n", ended((x / 3 + large) - large));
    return 0;
}
