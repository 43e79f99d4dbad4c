// An uncaught SIGALRM ends the program with that wait status; what was written before arrives.
//@ exit: SIGALRM
#include "guest.h"
#include <signal.h>

int main(void)
{
    puts("before");
    fflush(stdout);
    ualarm(20000, 0);
    pause();
    puts("after");
    return 0;
}
