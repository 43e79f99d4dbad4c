// An uncaught SIGILL ends the program with that wait status; what was written before arrives.
//@ exit: SIGILL
#include "guest.h"
#include <signal.h>

int main(void)
{
    puts("before");
    fflush(stdout);
    __builtin_trap();
    puts("after");
    return 0;
}
