// Floats with derivatives decide what to do next: thrice by order in flags, in masks and on the x87 stack, and seven times by
// equality, of which three are found. NaN is asked for as well, and floats
// without derivatives are compared: neither is a decision.
#include <stdio.h>

double x = 3;

/* Not known to the compiler. */
static double opaque(double value)
{
    __asm__ volatile("" : "+x"(value));
    return value;
}

int main(void)
{
    double sum = 0, constant = opaque(1);
    for (int i = 0; i < 3; i++) {
        double here = opaque(x);
        if (here > opaque(2 + i)) // ORDER, three times
            sum += here;
        if (here == opaque(2 + i)) // EQUAL, three times, once equal
            sum += 1;
        if (constant == opaque(1)) // inactive
            sum += 1;
        if (here != here) // asks for NaN alone
            sum += 100;
        double selected = opaque(x); // MASK, three times
        __asm__ volatile("cmpltsd %1, %0" : "+x"(selected) : "x"(opaque(3)));
        long double wide = x;
        if (wide > 2 + i) // X87, three times
            sum += 1;
        volatile long double again = x;
        if (again == 2 + i) // X87, three times, once equal
            sum += 1;
    }
    if (opaque(x) - 3 == opaque(-0.0)) // once, equal
        sum += 1;
    printf("%g\n", sum);
    return 0;
}
