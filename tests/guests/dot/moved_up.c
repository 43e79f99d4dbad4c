// Digits of a float are moved behind the place where they were, or multiplied as an address: nothing of the derivative is left.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

float x = 0.7f;

/* Not known to the compiler: each call is one. */
#define KEPT __attribute__((noinline, noipa))

static KEPT uint32_t bits(const float *value)
{
    uint32_t made;
    memcpy(&made, value, sizeof made);
    return made;
}

static KEPT uint64_t funnel(uint32_t digits)
{
    uint64_t made;
    __asm__("movl %k1, %%ecx\n\tandl $0xffffff, %%ecx\n\txorl %k0, %k0\n\tshrdq $7, %%rcx, %0"
            : "=&r"(made)
            : "r"(digits)
            : "rcx", "cc");
    return made;
}

static KEPT uint64_t shifted(uint32_t digits)
{
    uint64_t made;
    __asm__("movl %k1, %k0\n\tandl $0xffffff, %k0\n\tshlq $33, %0" : "=&r"(made) : "r"(digits) : "cc");
    return made;
}

static KEPT uint64_t five(uint32_t digits)
{
    uint64_t made;
    __asm__("movl %k1, %%eax\n\tleaq (%%rax,%%rax,4), %0" : "=r"(made) : "r"(digits) : "rax");
    return made;
}

int main(void)
{
    float y = x * x;
    uint32_t digits = bits(&y);
    printf("%llx %llx %llx\n", (unsigned long long)funnel(digits), (unsigned long long)shifted(digits),
           (unsigned long long)five(digits));
    return 0;
}
