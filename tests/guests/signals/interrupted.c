// Without SA_RESTART a signal ends a blocking call with EINTR: read, wait, futex, sleep, poll, select, locks.
#include "signals.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static volatile int count;
static void handler(int s, siginfo_t *i, void *c) { (void)s, (void)i, (void)c, count++; }

// Repeated, so that a signal which comes before the call blocks does not decide.
static void soon(void)
{
    struct itimerval timer = {{0, 2000}, {0, 2000}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}
static void never(void)
{
    struct itimerval timer = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

#define INTERRUPTED(name, call)                          \
    do {                                                 \
        soon();                                          \
        errno = 0;                                       \
        long result_ = (long)(call);                     \
        int error_ = errno;                              \
        never();                                         \
        printf("%-12s %ld %d\n", name, result_, error_); \
    } while (0)

int main(void)
{
    int pipes[2], sockets[2], word = 5, epoll = epoll_create1(0);
    char byte;
    fd_set set;
    struct epoll_event event;
    struct timespec hour = {3600, 0}, left = {0, 0};
    sem_t semaphore;
    on_signal(SIGALRM, handler, 0);
    CHECK(pipe(pipes) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0 && sem_init(&semaphore, 0, 0) == 0);
    pid_t child = fork();
    if (!child)
        for (;;) pause();
    INTERRUPTED("read", read(pipes[0], &byte, 1));
    INTERRUPTED("recv", recv(sockets[0], &byte, 1, 0));
    INTERRUPTED("waitpid", waitpid(child, NULL, 0));
    INTERRUPTED("futex", syscall(SYS_futex, &word, FUTEX_WAIT, 5, NULL, NULL, 0));
    INTERRUPTED("nanosleep", nanosleep(&hour, &left));
    CHECK(left.tv_sec >= 3500);
    INTERRUPTED("clock", (errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL)) ? -1 : 0);
    INTERRUPTED("sleep", (errno = EINTR, sleep(1000) > 900 ? -1 : 0));
    INTERRUPTED("poll", poll(NULL, 0, -1));
    FD_ZERO(&set);
    INTERRUPTED("select", select(0, &set, NULL, NULL, NULL));
    INTERRUPTED("epoll_wait", epoll_wait(epoll, &event, 1, -1));
    INTERRUPTED("pause", pause());
    INTERRUPTED("sem_wait", sem_wait(&semaphore));
    int lock = open("lock", O_RDWR | O_CREAT, 0600), again = open("lock", O_RDWR);
    CHECK(flock(lock, LOCK_EX) == 0);
    INTERRUPTED("flock", flock(again, LOCK_EX));
    fcntl(pipes[1], F_SETFL, O_NONBLOCK);
    char block[4096] = {0};
    while (write(pipes[1], block, sizeof block) > 0) continue;
    fcntl(pipes[1], F_SETFL, 0);
    INTERRUPTED("write", write(pipes[1], block, 100));
    CHECK(count > 10);
    kill(child, SIGKILL);
    return 0;
}
