// Exponents that integers change as compilers make it of field arithmetic: by an address with a scaled index, by a merge under a mask,
// of four upper halves at once, and of two floats in one word.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.7;

#define APART __attribute__((noinline, noipa))

static APART double by_address(double x, uint64_t eighth)
{
    __asm__("movq %0, %%rax\n\tleaq (%%rax,%1,8), %%rax\n\tmovq %%rax, %0" : "+x"(x) : "r"(eighth) : "rax");
    return x;
}

static APART float by_narrow_address(float x, uint32_t half)
{
    __asm__("movd %0, %%eax\n\tleal (%%rax,%q1,2), %%eax\n\tmovd %%eax, %0" : "+x"(x) : "r"(half) : "rax");
    return x;
}

static APART double by_merge(double x)
{
    __asm__("movq %0, %%rax\n\tmovabs $0x3ff0000000000000, %%rcx\n\tmovabs $0x7ff0000000000000, %%rdx\n\t"
            "xor %%rax, %%rcx\n\tand %%rdx, %%rcx\n\txor %%rcx, %%rax\n\tmovq %%rax, %0"
            : "+x"(x) : : "rax", "rcx", "rdx", "cc");
    return x;
}

static APART void upper_halves(double *x, const int32_t *powers)
{
    __asm__("movups (%0), %%xmm0\n\tmovups 16(%0), %%xmm1\n\tmovdqu (%1), %%xmm2\n\t"
            "shufps $0xdd, %%xmm1, %%xmm0\n\tpaddd %%xmm2, %%xmm0\n\t"
            "pextrd $0, %%xmm0, 4(%0)\n\tpextrd $1, %%xmm0, 12(%0)\n\t"
            "pextrd $2, %%xmm0, 20(%0)\n\tpextrd $3, %%xmm0, 28(%0)"
            : : "r"(x), "r"(powers) : "xmm0", "xmm1", "xmm2", "memory");
}

static APART void pair(float *x, uint64_t powers)
{
    uint64_t both;
    memcpy(&both, x, sizeof both);
    __asm__("addq %1, %0" : "+r"(both) : "r"(powers) : "cc");
    memcpy(x, &both, sizeof both);
}

int main(void)
{
    // Three quarters of it: another exponent than that of one.
    double small = x * 0.25;
    printf("%.17g\n", by_address(x, 1ull << 49));
    printf("%.9g\n", (double)by_narrow_address((float)x, 1u << 23));
    printf("%.17g\n", by_merge(small));
    double four[4] = {x, 3 * x, 5 * x, 7 * x};
    static const int32_t powers[4] = {1 << 20, 2 << 20, 0, -(1 << 20)};
    upper_halves(four, powers);
    printf("%.17g %.17g %.17g %.17g\n", four[0], four[1], four[2], four[3]);
    float two[2] = {(float)x, (float)(3 * x)};
    pair(two, 0x0080000001000000);
    printf("%.9g %.9g\n", (double)two[0], (double)two[1]);
}
