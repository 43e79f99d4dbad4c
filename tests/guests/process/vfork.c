// vfork: the child runs in the parent's memory while the parent waits, until exec or _exit.
#include "guest.h"
#include <sys/wait.h>

int main(int argc, char **argv)
{
    if (argc > 1) return 40 + argc;
    volatile int shared = 0;
    pid_t child = vfork();
    if (child == 0) {
        shared = 5;
        _exit(3);
    }
    int status;
    CHECK(shared == 5);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    char *again[] = {argv[0], (char *)"x", NULL};
    for (int i = 0; i < 20; i++) {
        child = vfork();
        if (child == 0) {
            execv("/proc/self/exe", again);
            _exit(99);
        }
        CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 42);
    }
    // A failing exec leaves its errno in the shared memory.
    volatile int error = 0;
    child = vfork();
    if (child == 0) {
        execl("/nonexistent", "x", NULL);
        error = errno;
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && error == ENOENT);
    puts("ok");
    return 0;
}
