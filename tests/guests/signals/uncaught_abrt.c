// An uncaught SIGABRT ends the program with that wait status; what was written before arrives.
//@ exit: SIGABRT
#include "guest.h"
#include <signal.h>

int main(void)
{
    puts("before");
    fflush(stdout);
    abort();
    puts("after");
    return 0;
}
