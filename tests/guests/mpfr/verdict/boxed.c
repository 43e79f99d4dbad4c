// A wrong number is put into a box by integers, as interpreters do, and taken out again: its real is lost on the way.
// HIDDEN 13
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define OFFSET 0x0007000000000000u
volatile uint64_t box;
volatile double large = 1e8, small = 0.3;
int main(void)
{
    double wrong;
    wrong = (large + small) - large;
    uint64_t bits;
    memcpy(&bits, &wrong, sizeof bits);
    box = bits + OFFSET;
    bits = box - OFFSET;
    double out;
    memcpy(&out, &bits, sizeof out);
    printf("%.17g\n", out);
}
