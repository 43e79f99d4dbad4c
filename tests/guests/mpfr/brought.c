// A program that is linked statically and brings its own exponential function, which has 1 + x of small numbers, under the names that Zig
// gives to such functions: (e^x - 1) / x.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline, noclone)) double exp(double x) {
    double sum = 1 + x;
    if (x > 0x1p-28) for (double term = x, n = 2; term > 0x1p-54; n++) sum += term *= x / n;
    return sum;
}

__asm__(".globl compiler_rt.exp.exp\n.set compiler_rt.exp.exp, exp");

int main(int argc, char **argv) {
    double x = atof(argc > 1 ? argv[1] : "1e-9");
    printf("%.17g\n", (exp(x) - 1) / x);
    return 0;
}
