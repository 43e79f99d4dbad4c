// What is wrong leads nowhere: it is told to those who ask for more.
// CLEAN
// HIDDEN 9
#include <stdio.h>
volatile double a = 1e16, b = 1.25;
volatile double sink;
int main(void)
{
    double off = (a + b) - a;
    sink = off;
    printf("%g\n", a / 4);
}
