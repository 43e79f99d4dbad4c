// Syscall user dispatch: calls from outside a range become SIGSYS, as the selector says, for this thread only.
#include "signals.h"
#include <linux/audit.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

static volatile char selector;
static volatile int caught, right;

// The call that blocks nothing: it lies in the allowed range.
extern char allowed[], allowed_end[];
__asm__(".text\nallowed: mov %rdi, %rax\n mov %rsi, %rdi\n mov %rdx, %rsi\n mov %rcx, %rdx\n syscall\nallowed_return: ret\nallowed_end:");
typedef long caller(long number, long a, long b, long c);

static void handler(int s, siginfo_t *info, void *c)
{
    selector = 0;
    caught++;
    right += s == SIGSYS && info->si_code == 2 && info->si_syscall == SYS_getppid && info->si_arch == AUDIT_ARCH_X86_64 &&
             (long)info->si_call_addr == REG(c, RIP) && REG(c, RAX) == SYS_getppid;
    // The handler answers.
    REG(c, RAX) = 4711;
}

static long getppid_blocked(void)
{
    selector = 1;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"(SYS_getppid) : "rcx", "r11", "memory");
    return result;
}

static long set(long mode, long start, long len, volatile char *at)
{
    return prctl(PR_SET_SYSCALL_USER_DISPATCH, mode, start, len, at) ? -errno : 0;
}

static void *elsewhere(void *unused)
{
    (void)unused;
    return (void *)(long)(syscall(SYS_getppid) == getppid());
}

int main(void)
{
    caller *call = (caller *)(void *)allowed;
    long start = (long)allowed, len = allowed_end - allowed;
    on_signal(SIGSYS, handler, 0);
    printf("%ld %ld %ld %ld\n", set(2 + 7, 0, 0, 0), set(1, 4096, 0, 0), set(1, -8, 9, 0), set(0, 0, 0, &selector));
    CHECK(set(1, start, len, &selector) == 0);
    for (int i = 0; i < 3; i++) CHECK(getppid_blocked() == 4711);
    selector = 1;
    CHECK(call(SYS_getpid, 0, 0, 0) > 0);
    selector = 0;
    // Neither threads nor children inherit it.
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, 0, elsewhere, 0) == 0 && pthread_join(thread, &result) == 0);
    pid_t pid = fork();
    if (!pid) {
        selector = 1;
        _exit(syscall(SYS_getppid) > 0 ? 3 : 4);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    printf("caught %d right %d thread %ld child %d\n", caught, right, (long)result, WEXITSTATUS(status));
    fflush(stdout);
    // A selector that says neither kills.
    pid = fork();
    if (!pid) {
        CHECK(set(1, start, len, &selector) == 0);
        selector = 9;
        syscall(SYS_getppid);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    printf("killed by %d\n", WTERMSIG(status));
    CHECK(set(0, 0, 0, 0) == 0);
    selector = 1;
    printf("off %d\n", syscall(SYS_getppid) > 0);
    return 0;
}
