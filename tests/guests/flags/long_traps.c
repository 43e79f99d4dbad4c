// Exceptions of x87 that are unmasked now and then: signals come where the program's own arithmetic raises them.
//
// The status word is the program's own, more often than arithmetic is looked at.
//@ libs: -lm
//@ flags: -frounding-math
#define _GNU_SOURCE
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf before;
static volatile int raised;

static void handle(int signal)
{
    raised++;
    siglongjmp(before, 1);
}

int main(void)
{
    struct sigaction action = {0};
    action.sa_handler = handle;
    sigaction(SIGFPE, &action, NULL);
    volatile long double one = 1, three = 3, result = 0;
    volatile double narrow;
    for (int i = 0; i < 300; i++) {
        if (sigsetjmp(before, 1)) {
            result = -1;
        } else {
            feclearexcept(FE_ALL_EXCEPT);
            if (i % 2) feenableexcept(FE_INEXACT | FE_DIVBYZERO | FE_INVALID);
            long double sum = 0;
            for (int k = 0; k < 5; k++) sum += one / (k + three);
            result = sum;
            narrow = (double)sum;
            if (i % 3 == 0) result = narrow / (one - one);
        }
        unsigned short status;
        __asm__ volatile("fnstsw %0" : "=m"(status));
        int flags = fetestexcept(FE_ALL_EXCEPT);
        fedisableexcept(FE_ALL_EXCEPT);
        printf("%d %d %x %Lg %x\n", i, raised, (unsigned)flags, result, (unsigned)status);
    }
    return 0;
}
