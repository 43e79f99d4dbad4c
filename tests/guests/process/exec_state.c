// What an exec keeps and what it resets.
#include "guest.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

static void handler(int signal) { (void)signal; }

static int after(char **argv)
{
    struct sigaction action;
    sigset_t set;
    stack_t stack;
    struct rlimit limit;
    char name[17] = {0}, here[4096];
    CHECK(getpid() == atoi(argv[2]) && getppid() == atoi(argv[3]));
    CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    CHECK(sigaction(SIGUSR2, NULL, &action) == 0 && action.sa_handler == SIG_IGN);
    CHECK(sigprocmask(SIG_SETMASK, NULL, &set) == 0 && sigismember(&set, SIGTERM) && !sigismember(&set, SIGINT));
    CHECK(sigpending(&set) == 0 && sigismember(&set, SIGTERM));
    CHECK(sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE));
    CHECK(umask(0) == 027);
    CHECK(getcwd(here, sizeof here) && !strcmp(strrchr(here, '/'), "/inner"));
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 123);
    CHECK(alarm(0) > 0);
    CHECK(getpriority(PRIO_PROCESS, 0) == 3);
    CHECK(prctl(PR_GET_NAME, name) == 0);
    CHECK(!strcmp(name, "exe") || !strcmp(name, "exec_state"));
    CHECK(fcntl(20, F_GETFD) == 0 && fcntl(21, F_GETFD) == -1);
    CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    printf("%s %s\n", argv[0], getenv("ADDED"));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1) return after(argv);
    char pid[20], parent[20];
    static char stack[65536];
    struct rlimit limit = {123, 200};
    sigset_t set;
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    snprintf(pid, sizeof pid, "%d", getpid());
    snprintf(parent, sizeof parent, "%d", getppid());
    signal(SIGUSR1, handler);
    signal(SIGUSR2, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && raise(SIGTERM) == 0);
    CHECK(sigaltstack(&alternative, NULL) == 0);
    umask(027);
    CHECK(mkdir("inner", 0700) == 0 && chdir("inner") == 0);
    alarm(1000);
    CHECK(setpriority(PRIO_PROCESS, 0, 3) == 0);
    CHECK(prctl(PR_SET_NAME, "before") == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    int fd = open("/dev/null", O_RDONLY);
    CHECK(dup2(fd, 20) == 20 && dup3(fd, 21, O_CLOEXEC) == 21);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    char *arguments[] = {(char *)"other name", (char *)"x", pid, parent, NULL};
    char *environment[] = {(char *)"ADDED=yes", NULL};
    execve("/proc/self/exe", arguments, environment);
    CHECK(!"exec");
}
