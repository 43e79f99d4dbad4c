// Without a limit on its size the stack has room for gigabytes, and programs that are executed find no limit either.
//@ wrap: ulimit -s unlimited; exec "$@"
#include "guest.h"
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

__attribute__((noinline)) static double far_apart(size_t count)
{
    volatile double values[count];
    values[0] = 1.5;
    values[count / 2] = 2.5;
    values[count - 1] = 3.5;
    return values[0] + values[count / 2] + values[count - 1];
}

static void print_limit(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
    printf("%lx %lx\n", (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    print_limit();
    printf("%g\n", far_apart(400000000));
    if (argc > 2) return 3;
    fflush(stdout);
    char *third[] = {argv[0], (char *)"x", (char *)"y", NULL}, *second[] = {argv[0], (char *)"x", NULL};
    if (argc == 1) execve(argv[0], second, environ);
    pid_t child;
    int status;
    CHECK(posix_spawn(&child, argv[0], NULL, NULL, third, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    CHECK_ERRNO(execve("/nonexistent", third, environ), ENOENT);
    print_limit();
    return 0;
}
