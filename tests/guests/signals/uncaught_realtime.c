// An uncaught real-time signal kills too.
//@ exit: SIG34
#include "guest.h"
#include <signal.h>

int main(void)
{
    raise(SIGRTMIN);
    return 0;
}
