// A program that sets derivatives itself, without a word to the tool that it is an input: nothing says that none was seeded.
#include "shadowgrind.h"
#include <stdio.h>

int main(void)
{
    double x = shadowgrind_with_dot(3.0, 1.0);
    printf("%g\n", x * x);
    return 0;
}
