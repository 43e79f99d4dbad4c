// clone and clone3 with the flags that libc seldom uses: own stacks, shared memory, tid addresses, exit signals.
#include "guest.h"
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char stack[4][65536] __attribute__((aligned(16)));
static volatile int shared;

static int child(void *argument)
{
    shared += (int)(long)argument;
    return 7;
}

static long clone3(struct clone_args *args, size_t size) { return syscall(SYS_clone3, args, size); }

static void with_clone3(void)
{
    int pidfd = -1, tid = 0;
    volatile int seen = 0;
    struct clone_args args = {.flags = CLONE_PIDFD | CLONE_PARENT_SETTID, .exit_signal = SIGCHLD,
                              .pidfd = (uintptr_t)&pidfd, .parent_tid = (uintptr_t)&tid};
    long pid = clone3(&args, sizeof args);
    if (pid == 0) {
        seen = 1;
        _exit(9);
    }
    int status;
    CHECK(pid > 0 && tid == pid && pidfd >= 0);
    CHECK(waitpid((pid_t)pid, &status, 0) == pid && WEXITSTATUS(status) == 9 && !seen);
    args.flags = CLONE_THREAD;
    CHECK_ERRNO(clone3(&args, sizeof args), EINVAL);
    CHECK_ERRNO(clone3(&args, 3), EINVAL);
    CHECK_ERRNO(clone3((struct clone_args *)8, sizeof args), EFAULT);
}

int main(void)
{
    int status, parent_tid = 0, child_tid = 0;
    // A process of its own on a stack of its own.
    pid_t pid = clone(child, stack[0] + sizeof stack[0], SIGCHLD | CLONE_PARENT_SETTID, (void *)5, &parent_tid);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7 && shared == 0 && parent_tid == pid);
    // Sharing memory, the parent waiting.
    pid = clone(child, stack[1] + sizeof stack[1], SIGCHLD | CLONE_VM | CLONE_VFORK, (void *)6);
    CHECK(pid > 0 && shared == 6 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
    // Sharing memory, both running; the kernel clears the tid at exit.
    child_tid = -1;
    pid = clone(child, stack[2] + sizeof stack[2], SIGCHLD | CLONE_VM | CLONE_CHILD_CLEARTID, (void *)7, NULL, NULL, &child_tid);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && shared == 13 && child_tid == 0);
    // No exit signal: only __WALL or __WCLONE finds it.
    pid = clone(child, stack[3] + sizeof stack[3], 0, (void *)1);
    CHECK_ERRNO(waitpid(pid, &status, 0), ECHILD);
    CHECK(waitpid(pid, &status, __WALL) == pid && WEXITSTATUS(status) == 7);
    // The raw call with a null stack is fork.
    pid = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_CHILD_SETTID, 0, NULL, &child_tid, 0);
    if (pid == 0) _exit(child_tid == (int)syscall(SYS_gettid) ? 11 : 12);
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 11 && child_tid == 0);
    CHECK_ERRNO(syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0), EINVAL);
    with_clone3();
    puts("ok");
    return 0;
}
