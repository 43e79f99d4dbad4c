// An uncaught SIGSEGV ends the program with that wait status; what was written before arrives.
//@ exit: SIGSEGV
#include "guest.h"
#include <signal.h>

int main(void)
{
    puts("before");
    fflush(stdout);
    *(volatile int *)16 = 1;
    puts("after");
    return 0;
}
