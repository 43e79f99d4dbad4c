// Digits that are shifted from one vector register to another, by a constant, four times each of three shifts. What was in the other
// register before is of no account: it has a derivative, or has none.
#include <immintrin.h>
#include <stdio.h>

double x = 1.7, y = 2.25;

__attribute__((noinline)) double left(double value, double other)
{
    __asm__ volatile("vpsllq $3, %1, %0" : "+x"(other) : "x"(value));
    return other;
}

__attribute__((noinline)) double right(double value, double other)
{
    __asm__ volatile("vpsrlq $3, %1, %0" : "+x"(other) : "x"(value));
    return other;
}

__attribute__((noinline)) double narrow(double value, double other)
{
    __asm__ volatile("vpsrad $3, %1, %0" : "+x"(other) : "x"(value));
    return other;
}

int main(void)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double active = x + i, others[] = { 0, active * 2 };
        // Constants lose nothing.
        sum += left(active, others[i % 2]) + right(active, others[i % 2]) + narrow(active, others[i % 2]) + left(y, active);
    }
    printf("%d\n", sum > 0);
}
