// An uncaught SIGPIPE ends the program with that wait status; what was written before arrives.
//@ exit: SIGPIPE
#include "guest.h"
#include <signal.h>

static void pipe_write(void)
{
    int pipes[2];
    CHECK(pipe(pipes) == 0 && close(pipes[0]) == 0);
    CHECK(write(pipes[1], "x", 1) == -1);
}

int main(void)
{
    puts("before");
    fflush(stdout);
    pipe_write();
    puts("after");
    return 0;
}
