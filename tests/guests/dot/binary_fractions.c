// A number is rounded to halves by one instruction of AVX-512: the derivative is not followed, which is to be said.
#include <stdio.h>

double x = 3.3;

int main(void)
{
    double square = x * x, halves;
    __asm__ volatile("vrndscalesd $0x10, %1, %1, %0" : "=v"(halves) : "v"(square));
    printf("%g %g\n", halves, square);
    return 0;
}
