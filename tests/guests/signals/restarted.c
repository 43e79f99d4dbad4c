// With SA_RESTART calls go on as if nothing had been; those with a time limit, and pause, never do.
#include "signals.h"
#include <linux/futex.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static volatile int count, release_at;
static int pipes[2], word = 5, gate[2];

static void handler(int s, siginfo_t *i, void *c)
{
    (void)s, (void)i, (void)c;
    // After some interruptions the call is given what it waits for.
    if (++count != release_at) return;
    CHECK(write(pipes[1], "x", 1) == 1);
    word = 6;
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
    CHECK(write(gate[1], "x", 1) == 1);
}

static void begin(void)
{
    struct itimerval timer = {{0, 1500}, {0, 1500}};
    release_at = count + 5;
    word = 5;
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}
static void end(const char *name, long result)
{
    struct itimerval timer = {{0, 0}, {0, 0}};
    char byte;
    int error = errno;
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    while (count < release_at) handler(0, NULL, NULL);
    printf("%-10s %ld %d\n", name, result, result < 0 ? error : 0);
    // Whatever the call did not take.
    struct pollfd left = {pipes[0], POLLIN, 0};
    if (poll(&left, 1, 0) == 1) CHECK(read(pipes[0], &byte, 1) == 1);
}

int main(void)
{
    char byte;
    struct timespec hour = {3600, 0};
    on_signal(SIGALRM, handler, SA_RESTART);
    CHECK(pipe(pipes) == 0 && pipe(gate) == 0);
    pid_t child = fork();
    if (!child) _exit(read(gate[0], &byte, 1) == 1 ? 3 : 4);
    int status = 0;
    begin();
    pid_t waited = waitpid(child, &status, 0);
    end("waitpid", waited == child ? WEXITSTATUS(status) : -1);
    begin();
    end("read", read(pipes[0], &byte, 1));
    begin();
    end("futex", syscall(SYS_futex, &word, FUTEX_WAIT, 5, NULL, NULL, 0));
    struct timespec minute = {60, 0};
    begin();
    long result = syscall(SYS_futex, &word, FUTEX_WAIT, 5, &minute, NULL, 0);
    end("futex 60 s", result);
    begin();
    end("nanosleep", nanosleep(&hour, NULL));
    begin();
    end("poll", poll(NULL, 0, -1));
    begin();
    end("pause", pause());
    return 0;
}
