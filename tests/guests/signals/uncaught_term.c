// An uncaught SIGTERM ends the program with that wait status; what was written before arrives.
//@ exit: SIGTERM
#include "guest.h"
#include <signal.h>

int main(void)
{
    puts("before");
    fflush(stdout);
    kill(getpid(), SIGTERM);
    puts("after");
    return 0;
}
