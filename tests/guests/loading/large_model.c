// Code that trusts no address to be near: the large code model reaches everything through 64-bit immediates.
//@ link: nopie pie
//@ flags: -mcmodel=large
#include "guest.h"

static double table[1000];
static int counter;

__attribute__((noinline)) static double sum(const double *from, int count)
{
    double total = 0;
    for (int i = 0; i < count; i++) total += from[i];
    counter++;
    return total;
}

int main(void)
{
    for (int i = 0; i < 1000; i++) table[i] = i * 0.5;
    double (*volatile pointer)(const double *, int) = sum;
    printf("%.17g %.17g %d\n", sum(table, 1000), pointer(table, 10), counter);
    return 0;
}
