// Three tenths are not 0.3 in the reals either, once the constants are rounded: no comparison flips.
#include <stdio.h>
volatile double tenth = 0.1, three_tenths = 0.3;
int main(void)
{
    double x = tenth * 3;
    printf("%d %d %g\n", x == three_tenths, x > three_tenths, x);
}
