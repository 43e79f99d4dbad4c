// A handler's frame that does not fit on the alternate stack is a SIGSEGV, for a handler elsewhere, or else the end.
#include "signals.h"
#include <setjmp.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>

static sigjmp_buf back;
static volatile int alarms, faults, si_code;

static void on_alarm(int s, siginfo_t *i, void *c) { (void)s, (void)i, (void)c, alarms++; }
static void on_fault(int s, siginfo_t *i, void *c)
{
    (void)s, (void)c;
    faults++, si_code = i->si_code;
    siglongjmp(back, 1);
}

// How a child ends that raises SIGALRM with an alternate stack too small for it.
static int status_of(int fault_flags, int handled, int blocked)
{
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        if (handled) on_signal(SIGSEGV, on_fault, fault_flags);
        sigset_t set;
        sigemptyset(&set), sigaddset(&set, SIGSEGV);
        if (blocked) sigprocmask(SIG_BLOCK, &set, NULL);
        if (!sigsetjmp(back, 1)) raise(SIGALRM);
        _exit(alarms * 10 + faults);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFSIGNALED(status) ? 100 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(void)
{
    size_t least = getauxval(AT_MINSIGSTKSZ), room = 1 << 16;
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t small = {.ss_sp = memory, .ss_size = 2048}, large = {.ss_sp = memory, .ss_size = room};
    on_signal(SIGALRM, on_alarm, SA_ONSTACK);
    if (least > 2600) {
        CHECK(sigaltstack(&small, NULL) == 0);
        CHECK(status_of(0, 1, 0) == 1);
        CHECK(status_of(SA_ONSTACK, 1, 0) == 100 + SIGSEGV);
        CHECK(status_of(0, 0, 0) == 100 + SIGSEGV);
        CHECK(status_of(0, 1, 1) == 100 + SIGSEGV);
        on_signal(SIGSEGV, on_fault, 0);
        if (!sigsetjmp(back, 1)) raise(SIGALRM);
        CHECK(faults == 1 && alarms == 0 && si_code == SI_KERNEL);
        faults = 0;
        small.ss_flags = 1 << 31;
        CHECK(sigaltstack(&small, NULL) == 0 && status_of(0, 1, 0) == 1);
    }
    CHECK(sigaltstack(&large, NULL) == 0);
    raise(SIGALRM);
    large.ss_flags = 1 << 31;
    CHECK(sigaltstack(&large, NULL) == 0);
    raise(SIGALRM);
    printf("%d\n", alarms);
    return 0;
}
