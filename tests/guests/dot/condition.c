// A condition is put into the lowest byte of a register in which a float was: that is an integer, and nothing is lost.
#include <stdio.h>

double x = 0.7;

/// 1 if `n` is not 2, as compilers have it, in the register that `p` was read into.
__attribute__((noinline)) static int is_other(const double *p, int n, double *copy) {
    int is;
    __asm__("mov (%[p]), %%r14\n\t"
            "mov %%r14, (%[copy])\n\t"
            "mov $1, %%eax\n\t"
            "cmp $2, %[n]\n\t"
            "setne %%r14b\n\t"
            "and %%eax, %%r14d\n\t"
            "mov %%r14d, %[is]"
            : [is] "=r"(is)
            : [p] "r"(p), [n] "r"(n), [copy] "r"(copy)
            : "rax", "r14", "cc", "memory");
    return is;
}

int main(void) {
    int others = 0;
    double sum = 0;
    for (int i = 0; i < 5; i++) {
        double product = x * (i + 0.3), copy;
        others += is_other(&product, i, &copy);
        sum += copy;
    }
    printf("%.17g %d\n", sum, others);
    return 0;
}
