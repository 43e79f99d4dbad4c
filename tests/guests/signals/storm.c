// A storm of signals from another process loses none that queue, and every handshake goes through.
#include "signals.h"
#include <sys/wait.h>

#define ROUNDS 3000
static volatile long received, sum;
static void count(int s, siginfo_t *info, void *c)
{
    (void)s, (void)c;
    received++;
    sum += info->si_value.sival_int;
}

int main(void)
{
    int pipes[2];
    char byte;
    on_signal(SIGRTMIN, count, SA_RESTART);
    CHECK(pipe(pipes) == 0);
    pid_t parent = getpid(), pid = fork();
    if (!pid) {
        close(pipes[0]);
        for (int i = 0; i < ROUNDS; i++)
            while (sigqueue(parent, SIGRTMIN, (union sigval){.sival_int = i})) CHECK(errno == EAGAIN);
        _exit(0);
    }
    close(pipes[1]);
    // Meanwhile: arithmetic, allocation, system calls, fork.
    double x = 0;
    int status;
    for (long i = 1; received < ROUNDS; i++) {
        x += 1.0 / (double)i;
        free(malloc((size_t)i % 1000));
        if (i % 64 == 0) getppid();
        if (i % 20000 == 0) {
            pid_t other = fork();
            if (!other) _exit(0);
            while (waitpid(other, &status, 0) != other) CHECK(errno == EINTR);
        }
    }
    CHECK(read(pipes[0], &byte, 1) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    printf("%ld %ld %d\n", received, sum, x >= 0);
    return 0;
}
