// An uncaught SIGTRAP ends the program with that wait status; what was written before arrives.
//@ exit: SIGTRAP
#include "guest.h"
#include <signal.h>

int main(void)
{
    puts("before");
    fflush(stdout);
    __asm__ volatile("int3");
    puts("after");
    return 0;
}
