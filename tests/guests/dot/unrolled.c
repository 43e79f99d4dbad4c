// Two roundings to fractions by one number, which its opposite takes off again, as unrolled code has them.
#include <stdio.h>

double x = 1.7, magic = 0x1.8p44, opposite = -0x1.8p44;

static __attribute__((noinline, noipa)) void rests(double x, double *rest)
{
    double first, second;
    __asm__("movsd %3, %%xmm3\n\tmovsd %4, %%xmm5\n\t"
            "movapd %%xmm3, %0\n\taddsd %2, %0\n\taddsd %%xmm5, %0\n\t"
            "addsd %2, %%xmm3\n\taddsd %%xmm5, %%xmm3\n\tmovapd %%xmm3, %1"
            : "=&x"(first), "=&x"(second) : "x"(x), "m"(magic), "m"(opposite) : "xmm3", "xmm5");
    rest[0] = x - first, rest[1] = x - second;
}

int main(void)
{
    double rest[2];
    rests(3 * x, rest);
    printf("%.17g %.17g\n", rest[0], rest[1]);
}
