// clone3 with CLONE_CLEAR_SIGHAND: the child's handlers are the defaults, what it ignores it still ignores.
#define _GNU_SOURCE
#include "guest.h"
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CLEAR_SIGHAND 0x100000000ull

struct arguments {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

static volatile int caught;
static void handler(int signal) { caught = signal; }

// In the child: how it ends tells what it found.
static void child(void)
{
    struct sigaction action;
    if (sigaction(SIGUSR1, NULL, &action) || action.sa_handler != SIG_DFL) _exit(1);
    if (sigaction(SIGUSR2, NULL, &action) || action.sa_handler != SIG_IGN) _exit(2);
    if (sigaction(SIGSEGV, NULL, &action) || action.sa_handler != SIG_DFL) _exit(3);
    if (raise(SIGCHLD) || caught) _exit(4);
    raise(SIGUSR2);
    *(volatile int *)0 = 0;
    _exit(5);
}

static void make(uint64_t flags)
{
    struct arguments arguments = {.flags = flags, .exit_signal = SIGCHLD};
    caught = 0;
    long pid;
    // No call in between: with CLONE_VM the child is on the parent's stack.
    __asm__ volatile("syscall" : "=a"(pid) : "0"(SYS_clone3), "D"(&arguments), "S"(sizeof arguments) : "rcx", "r11", "memory");
    if (pid == 0) child();
    CHECK(pid > 0);
    int status;
    CHECK(waitpid((pid_t)pid, &status, 0) == pid);
    printf("%d %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(void)
{
    signal(SIGUSR1, handler), signal(SIGCHLD, handler), signal(SIGSEGV, handler), signal(SIGUSR2, SIG_IGN);
    make(CLEAR_SIGHAND);
    CHECK(caught == SIGCHLD);
    make(CLEAR_SIGHAND | CLONE_VM | CLONE_VFORK);
    CHECK(caught == SIGCHLD);
    struct arguments both = {.flags = CLEAR_SIGHAND | CLONE_SIGHAND | CLONE_VM, .exit_signal = SIGCHLD};
    CHECK_ERRNO(syscall(SYS_clone3, &both, sizeof both), EINVAL);
    // The parent still has its own.
    caught = 0;
    CHECK(raise(SIGUSR1) == 0 && caught == SIGUSR1);
    return 0;
}
