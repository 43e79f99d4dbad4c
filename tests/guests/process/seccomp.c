// seccomp: a filter's errno and its SIGSYS with the right fields, strict mode, the kill it ends in, and what is refused.
#include "guest.h"
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static volatile int trapped;
static void handler(int signal, siginfo_t *info, void *context)
{
    (void)context;
    trapped = signal == SIGSYS && info->si_code == 1 && info->si_syscall == SYS_getuid && info->si_arch == AUDIT_ARCH_X86_64;
}

static int install(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getuid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sync, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static void strict(void)
{
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    // New code, then the only calls that are allowed.
    volatile double sum = 0;
    for (int i = 1; i < 1000; i++) sum += 1.0 / i;
    if (sum > 7) syscall(SYS_write, 1, "strict\n", 7);
    syscall(SYS_exit, 5);
}

static int status_of(void (*body)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) body(), _exit(99);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

static void forbidden(void) { install(), syscall(SYS_sync); }
static void strict_forbidden(void) { prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT), syscall(SYS_getpid); }

static int filter_with(unsigned flags, struct sock_filter *filter, unsigned short length)
{
    struct sock_fprog program = {length, filter};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

// Of two filters that give an errno, the newer decides; what is no filter is refused, and so is the way back.
static void layered(void)
{
    struct sock_filter older[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 11),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }, newer[4], no_end[] = {older[0]}, too_far[] = {older[0], BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0), older[3]},
      outside[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), older[3]}, nothing[] = {BPF_STMT(0xff, 0), older[3]};
    memcpy(newer, older, sizeof older);
    newer[2].k = SECCOMP_RET_ERRNO | 12;
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK_ERRNO(filter_with(0, no_end, 1), EINVAL);
    CHECK_ERRNO(filter_with(0, too_far, 3), EINVAL);
    CHECK_ERRNO(filter_with(0, outside, 2), EINVAL);
    CHECK_ERRNO(filter_with(0, nothing, 2), EINVAL);
    CHECK_ERRNO(filter_with(0x8000, older, 4), EINVAL);
    CHECK_ERRNO(filter_with(0, older, 0), EINVAL);
    CHECK_ERRNO(prctl(PR_SET_SECCOMP, 3, 0), EINVAL);
    CHECK_ERRNO(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, 0), EINVAL);
    CHECK(filter_with(0, older, 4) == 0 && filter_with(0, newer, 4) == 0);
    CHECK_ERRNO(syscall(SYS_getppid), 12);
    CHECK_ERRNO(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT), EINVAL);
    _exit(6);
}

// Without the promise that no program gains privileges, and without the capability, there are no filters: whoever the user is.
static void without_capability(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2];
    memset(none, 0, sizeof none);
    CHECK(syscall(SYS_capset, &header, none) == 0);
    struct sock_filter filter[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}, wrong[] = {BPF_STMT(0xff, 0)};
    CHECK_ERRNO(filter_with(0, filter, 1), EACCES);
    // Which of two errors it is.
    CHECK_ERRNO(filter_with(0, wrong, 1), EACCES);
    CHECK_ERRNO(filter_with(0, filter, 0), EINVAL);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && filter_with(0, filter, 1) == 0);
    _exit(8);
}

int main(void)
{
    printf("%d\n", WEXITSTATUS(status_of(without_capability)));
    printf("%d\n", WEXITSTATUS(status_of(layered)));
    printf("%d %d\n", WEXITSTATUS(status_of(strict)), WTERMSIG(status_of(strict_forbidden)));
    printf("%d\n", WTERMSIG(status_of(forbidden)));
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGSYS, &action, NULL) == 0 && install() == 0);
    CHECK_ERRNO(syscall(SYS_getppid), 77);
    syscall(SYS_getuid);
    CHECK(trapped);
    CHECK(prctl(PR_GET_SECCOMP) == 2);
    puts("filtered");
    return 0;
}
