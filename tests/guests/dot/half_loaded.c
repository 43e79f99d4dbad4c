// The upper half of a double is loaded alone, and the lower one is another's: of the derivative the upper half is left. Where both
// halves are loaded nothing is lost.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.5;

/* Not known to the compiler: each call is one. */
#define KEPT __attribute__((noinline, noipa))

static KEPT double upper(const double *value)
{
    double made;
    __asm__("movl 4(%1), %%eax\n\tshlq $32, %%rax\n\tmovq %%rax, %0" : "=x"(made) : "r"(value) : "rax", "memory");
    return made * 2;
}

static KEPT double filled(const double *value)
{
    double made;
    __asm__("movl 4(%1), %%eax\n\tshlq $32, %%rax\n\torq $0x12345, %%rax\n\tmovq %%rax, %0"
            : "=x"(made)
            : "r"(value)
            : "rax", "memory");
    return made * 2;
}

static KEPT double both(const double *value)
{
    double made;
    __asm__("movl 4(%1), %%eax\n\tshlq $32, %%rax\n\tmovl (%1), %%edx\n\torq %%rdx, %%rax\n\tmovq %%rax, %0"
            : "=x"(made)
            : "r"(value)
            : "rax", "rdx", "memory");
    return made * 2;
}

int main(void)
{
    double value = 1.1 * x;
    printf("%.17g %.17g %.17g\n", upper(&value), filled(&value), both(&value));
    return 0;
}
