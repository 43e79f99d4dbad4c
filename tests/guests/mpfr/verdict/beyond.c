// Numbers with exponents beyond MPFR's: not infinite, and not zero. Of two of them it is not known which is larger.
// FAILS output decision nan
#include <math.h>
#include <stdio.h>
volatile double large = 1e11, larger = 2e11, one = 1;
int main(void)
{
    double huge = exp(large); // BORN 1 of 1
    double other = exp(larger); // BORN 1 of 1
    double tiny = one / huge;
    printf("%g\n", tiny);
    printf("%d\n", tiny > 0); // DECIDES 1 of 1
    double below = -exp(-large) / 3;
    printf("%d\n", below < 0); // DECIDES 1 of 1
    printf("%d\n", tiny * one < one);
    printf("%d\n", (int)tiny);
    printf("%g\n", tiny + one);
    printf("%d\n", huge > 1e300);
    printf("%d\n", huge < other); // UNSETTLED 1 of 1
    printf("%g\n", -huge);
    printf("%g\n", log(huge));
}
