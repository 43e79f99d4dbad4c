/* Variables of which a stripped file tells only the size. */
#include <stdio.h>

long double wide = 1.5L;
double narrow = 2.0;

int main(void)
{
    printf("%.17g\n", (double)(wide * wide) * narrow);
    return 0;
}
