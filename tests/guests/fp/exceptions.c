// The sticky exception flags show exactly what the program's own arithmetic raised, whatever happened in between.
//@ libs: -lm
#include "guest.h"
#include <fenv.h>
#include <math.h>
#include <sys/syscall.h>

static volatile double zero = 0, one = 1, three = 3, huge = 1e308, tiny = 5e-324;
static volatile double sink;
static volatile float narrow;
static volatile long integer;

static void show(const char *what)
{
    int raised = fetestexcept(FE_ALL_EXCEPT);
    printf("%-10s%s%s%s%s%s\n", what, raised & FE_INVALID ? " invalid" : "", raised & FE_DIVBYZERO ? " divbyzero" : "",
           raised & FE_OVERFLOW ? " overflow" : "", raised & FE_UNDERFLOW ? " underflow" : "",
           raised & FE_INEXACT ? " inexact" : "");
}

#define TRY(what, ...)                        \
    do {                                      \
        feclearexcept(FE_ALL_EXCEPT);         \
        __VA_ARGS__;                          \
        syscall(SYS_getppid);                 \
        show(what);                           \
    } while (0)

int main(void)
{
    TRY("nothing", sink = one + three);
    TRY("inexact", sink = one / three);
    TRY("zero", sink = one / zero);
    TRY("invalid", sink = zero / zero);
    TRY("overflow", sink = huge * huge);
    TRY("underflow", sink = tiny / three);
    TRY("narrowing", narrow = (float)huge);
    TRY("to integer", integer = (long)(huge));
    TRY("inexact int", integer = lrint(one / three));
    TRY("compare", integer = one < (zero / zero));
    TRY("quiet", integer = isless(one, (double)NAN));
    TRY("exp", sink = exp(1000 * one));
    TRY("log", sink = log(zero));
    TRY("sqrt", sink = sqrt(-one));
    TRY("raised", feraiseexcept(FE_OVERFLOW | FE_DIVBYZERO));
    fenv_t held;
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_UNDERFLOW);
    CHECK(feholdexcept(&held) == 0);
    sink = one / zero;
    feclearexcept(FE_DIVBYZERO);
    sink = one / three;
    CHECK(feupdateenv(&held) == 0);
    show("updated");
    // A single flag stays until it is cleared.
    TRY("kept", sink = one / three; for (int i = 0; i < 1000; i++) sink = one + three);
    return 0;
}
