// An uncaught SIGKILL ends the program with that wait status; what was written before arrives.
//@ exit: SIGKILL
#include "guest.h"
#include <signal.h>

int main(void)
{
    puts("before");
    fflush(stdout);
    kill(getpid(), SIGKILL);
    puts("after");
    return 0;
}
