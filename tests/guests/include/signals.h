/* What the guests about signals share: installing handlers, and the registers in a context by short names. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include "guest.h"
#include <signal.h>
#include <ucontext.h>

#define REG(context, name) (((ucontext_t *)(context))->uc_mcontext.gregs[REG_##name])

static inline void on_signal(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    CHECK(sigaction(signal, &action, NULL) == 0);
}

static inline sigset_t set_of(int a, int b)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, a);
    if (b) sigaddset(&set, b);
    return set;
}

static inline int is_blocked(int signal)
{
    sigset_t set;
    CHECK(sigprocmask(SIG_SETMASK, NULL, &set) == 0);
    return sigismember(&set, signal);
}

#endif
