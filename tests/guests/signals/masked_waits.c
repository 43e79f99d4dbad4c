// ppoll, pselect, epoll_pwait and sigsuspend change the mask for their own duration and not a moment longer.
#include "signals.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>

static volatile int handled, was_blocked;
static void handler(int s, siginfo_t *i, void *c)
{
    (void)i, (void)c;
    handled++;
    was_blocked = is_blocked(s);
}

#define ATOMICALLY(name, call)                                                              \
    do {                                                                                    \
        handled = 0;                                                                        \
        raise(SIGUSR1);                                                                     \
        CHECK(handled == 0);                                                                \
        CHECK_ERRNO(call, EINTR);                                                           \
        CHECK(is_blocked(SIGUSR1) && was_blocked);                                          \
        /* And one that comes while the call waits. */                                      \
        pid_t pid_ = fork();                                                                \
        if (!pid_) usleep(2000), kill(getppid(), SIGUSR1), _exit(0);                        \
        CHECK_ERRNO(call, EINTR);                                                           \
        CHECK(waitpid(pid_, NULL, 0) == pid_ && is_blocked(SIGUSR1));                       \
        printf("%s %d\n", name, handled);                                                   \
        fflush(stdout);                                                                     \
    } while (0)

int main(void)
{
    sigset_t set = set_of(SIGUSR1, 0), none;
    struct pollfd fds = {-1, POLLIN, 0};
    struct epoll_event event;
    int epoll = epoll_create1(0);
    sigemptyset(&none);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    on_signal(SIGUSR1, handler, SA_RESTART); // these calls are not restarted all the same
    ATOMICALLY("ppoll", ppoll(&fds, 1, NULL, &none));
    ATOMICALLY("pselect", pselect(0, NULL, NULL, NULL, NULL, &none));
    ATOMICALLY("epoll_pwait", epoll_pwait(epoll, &event, 1, -1, &none));
    ATOMICALLY("sigsuspend", sigsuspend(&none));
    // With the signal still blocked nothing happens, and the time runs out.
    struct timespec short_time = {0, 3000000};
    raise(SIGUSR1);
    handled = 0;
    CHECK(ppoll(&fds, 1, &short_time, &set) == 0 && handled == 0);
    return 0;
}
