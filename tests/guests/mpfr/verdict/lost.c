// An instruction that is not understood meets what is shadowed.
//@ need: f16c
#include <immintrin.h>
#include <stdio.h>
volatile double third = 3;
int main(void)
{
    float x = (float)(1 / third);
    unsigned half = _cvtss_sh(x, 0);
    printf("%u %g\n", half, 0.5);
}
