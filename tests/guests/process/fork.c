// fork: the child has a copy of everything, its own pid, and returns its status; many at once and nested.
//@ link: pie static
#include "guest.h"
#include <sys/syscall.h>
#include <sys/wait.h>

static int global = 1;

static long work(int n)
{
    long sum = 0;
    for (int i = 0; i < n * 1000; i++) sum += i % (n + 1);
    return sum;
}

int main(void)
{
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        CHECK(getppid() == parent && getpid() != parent && syscall(SYS_gettid) == getpid());
        global = 2;
        _exit(17);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 17 && global == 1);
    pid_t children[20];
    for (int i = 0; i < 20; i++)
        if (!(children[i] = fork())) _exit((int)(work(i) % 200));
    for (int i = 0; i < 20; i++) {
        CHECK(waitpid(children[i], &status, 0) == children[i] && WIFEXITED(status));
        printf("%d ", WEXITSTATUS(status));
        CHECK(WEXITSTATUS(status) == work(i) % 200);
    }
    puts("");
    fflush(stdout);
    // Five generations.
    int depth = 0;
    pid_t next;
    while (depth < 5 && !(next = fork())) depth++;
    if (depth < 5) {
        CHECK(waitpid(next, &status, 0) == next && WIFEXITED(status));
        if (depth) _exit(WEXITSTATUS(status) + 1);
        printf("generations: %d\n", WEXITSTATUS(status));
        return 0;
    }
    _exit(1);
}
