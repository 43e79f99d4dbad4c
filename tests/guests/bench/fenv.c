// Clears and reads the exception flags, as numerical libraries do around a computation.
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000, raised = 0;
    volatile double x = 3;
    for (long i = 0; i < rounds; i++) {
        feclearexcept(FE_ALL_EXCEPT);
        x = x / 1.5 + 1;
        raised += fetestexcept(FE_INEXACT) != 0;
    }
    printf("%ld %.17g\n", raised, x);
    return 0;
}
