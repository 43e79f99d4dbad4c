// A function that calls another, both called so often that their code is translated anew: each call counts once.
#include <stdio.h>

double shift = 0;

__attribute__((noinline)) double inner(double x)
{
    __asm__ volatile("" : "+x"(x));
    return 2 * x;
}

__attribute__((noinline)) double outer(double x)
{
    double result = inner(x);
    __asm__ volatile("" : "+x"(result));
    return result + 1;
}

int main(void)
{
    double sum = 0;
    for (int i = 0; i < 3000; i++) sum += outer(i * shift);
    printf("%.17g\n", sum);
    return 0;
}
