// A double's lower half cut, its upper digits cut, and both joined under an exponent, as compilers make it of `frexp` in integers.
#include <stdio.h>

double x = 0.7;

static __attribute__((noinline, noipa)) double fraction(double x)
{
    double result;
    __asm__("movq %1, %%rax\n\t"
            "movabs $0xfffff00000000, %%rcx\n\t"
            "and %%rax, %%rcx\n\t"
            "movl %%eax, %%eax\n\t"
            "or %%rcx, %%rax\n\t"
            "movabs $0x3ff0000000000000, %%rcx\n\t"
            "or %%rcx, %%rax\n\t"
            "movq %%rax, %0"
            : "=x"(result) : "x"(x) : "rax", "rcx", "cc");
    return result;
}

int main(void)
{
    // The first number of a tape is the input itself.
    printf("%.17g\n", fraction(x));
    return 0;
}
