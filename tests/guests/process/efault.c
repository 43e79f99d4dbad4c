// A bad pointer handed to a system call gives EFAULT, also where somebody else looks at the call first.
#include "guest.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>

#define BAD ((void *)16)
#define FAULTS(...) CHECK_ERRNO(syscall(__VA_ARGS__), EFAULT)

int main(void)
{
    int pipes[2];
    CHECK(pipe(pipes) == 0 && write(pipes[1], "x", 1) == 1);
    FAULTS(SYS_read, pipes[0], BAD, 1);
    FAULTS(SYS_write, pipes[1], BAD, 10);
    FAULTS(SYS_open, BAD, 0);
    FAULTS(SYS_stat, "/", BAD);
    FAULTS(SYS_readlink, BAD, BAD, 10);
    FAULTS(SYS_readlink, "/proc/self/exe", BAD, 100);
    FAULTS(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", BAD, 100);
    FAULTS(SYS_openat, AT_FDCWD, BAD, 0);
    FAULTS(SYS_pipe, BAD);
    FAULTS(SYS_rt_sigaction, SIGUSR1, BAD, NULL, 8);
    FAULTS(SYS_rt_sigaction, SIGUSR1, NULL, BAD, 8);
    FAULTS(SYS_rt_sigprocmask, SIG_BLOCK, BAD, NULL, 8);
    FAULTS(SYS_rt_sigprocmask, SIG_BLOCK, NULL, BAD, 8);
    FAULTS(SYS_rt_sigpending, BAD, 8);
    FAULTS(SYS_rt_sigsuspend, BAD, 8);
    FAULTS(SYS_rt_sigtimedwait, BAD, NULL, NULL, 8);
    FAULTS(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, BAD);
    FAULTS(SYS_sigaltstack, BAD, NULL);
    FAULTS(SYS_sigaltstack, NULL, BAD);
    FAULTS(SYS_nanosleep, BAD, NULL);
    FAULTS(SYS_clock_gettime, CLOCK_MONOTONIC, BAD);
    FAULTS(SYS_gettimeofday, BAD, NULL);
    FAULTS(SYS_futex, BAD, 0, 0, NULL, NULL, 0);
    FAULTS(SYS_poll, BAD, 1, 0);
    FAULTS(SYS_ppoll, NULL, 0, BAD, NULL, 8);
    FAULTS(SYS_ppoll, NULL, 0, NULL, BAD, 8);
    FAULTS(SYS_pselect6, 0, NULL, NULL, NULL, NULL, BAD);
    FAULTS(SYS_getrlimit, RLIMIT_AS, BAD);
    FAULTS(SYS_prlimit64, 0, RLIMIT_AS, BAD, NULL);
    FAULTS(SYS_arch_prctl, 0x1003, BAD);
    FAULTS(SYS_prctl, 16, BAD);
    FAULTS(SYS_prctl, 15, BAD);
    FAULTS(SYS_uname, BAD);
    FAULTS(SYS_getcwd, BAD, 4096);
    FAULTS(SYS_readv, pipes[0], BAD, 1);
    FAULTS(SYS_sched_getaffinity, 0, 128, BAD);
    FAULTS(SYS_getrandom, BAD, 10, 0);
    FAULTS(SYS_get_robust_list, 0, BAD, BAD);
    FAULTS(SYS_setitimer, ITIMER_REAL, BAD, NULL);
    FAULTS(SYS_timer_create, CLOCK_MONOTONIC, BAD, BAD);
    FAULTS(SYS_mremap, BAD - 16, 4096, 8192, 1);
    FAULTS(SYS_execve, "/bin/true", BAD, NULL);
    FAULTS(SYS_clone3, BAD, 64);
    // A buffer that ends in an unmapped page: what fits is read.
    char *p = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(munmap(p + 4096, 4096) == 0);
    int zero = open("/dev/zero", O_RDONLY);
    CHECK(read(zero, p + 4000, 1000) == 96);
    CHECK(write(pipes[1], p + 4096 - 3, 10) == 3 || errno == EFAULT);
    CHECK_ERRNO(read(-1, p, 1), EBADF);
    puts("ok");
    return 0;
}
