// Last bytes of floats cut off in registers, as of those that are made bfloat16: by masks, by shifts forth and back, by way of a variable
// of two bytes, and one cleared.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.5;

#define APART __attribute__((noinline, noipa))

static APART float masked(float x, uint32_t mask)
{
    __asm__("movd %0, %%eax\n\tandl %1, %%eax\n\tmovd %%eax, %0" : "+x"(x) : "r"(mask) : "eax", "cc");
    return x;
}

static APART float masked_in_memory(float x)
{
    __asm__("andl $0xffff0000, %0" : "+m"(x) : : "cc");
    return x;
}

static APART float masked_in_vector(float x)
{
    static const uint32_t mask[4] __attribute__((aligned(16))) = {0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000};
    __asm__("pand %1, %0" : "+x"(x) : "m"(mask));
    return x;
}

static APART float shifted(float x)
{
    __asm__("movd %0, %%eax\n\tshrl $16, %%eax\n\tshll $16, %%eax\n\tmovd %%eax, %0" : "+x"(x) : : "eax", "cc");
    return x;
}

static APART float shifted_in_vector(float x)
{
    __asm__("psrld $8, %0\n\tpslld $8, %0" : "+x"(x));
    return x;
}

static APART float through_two_bytes(float x)
{
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    volatile uint16_t upper = word >> 16;
    word = (uint32_t)upper << 16;
    memcpy(&x, &word, sizeof word);
    return x;
}

static APART double cleared(double x)
{
    __asm__("movq %0, %%rdi\n\txorb %%dil, %%dil\n\tmovq %%rdi, %0" : "+x"(x) : : "rdi", "cc");
    return x;
}

static APART double cleared_in_memory(double x)
{
    __asm__("movb $0, %0" : "+m"(x));
    return x;
}

int main(void)
{
    // So many numbers before that none of those below is a multiple of 256, or has zeros where they are cut.
    double sum = 0;
    for (int i = 0; i < 70000; i++)
        sum += x;
    float single = (float)(3 * x + sum - sum);
    printf("%.9g\n", (double)masked(single, 0xffff0000));
    printf("%.9g\n", (double)masked(single, 0xffffff00));
    printf("%.9g\n", (double)masked_in_memory(single));
    printf("%.9g\n", (double)masked_in_vector(single));
    printf("%.9g\n", (double)shifted(single));
    printf("%.9g\n", (double)shifted_in_vector(single));
    printf("%.9g\n", (double)through_two_bytes(single));
    printf("%.17g\n", cleared(3 * x));
    printf("%.17g\n", cleared_in_memory(3 * x));
    return 0;
}
