// C++ exceptions thrown out of a handler for a synchronous fault unwind through the signal frame.
//@ flags: -fnon-call-exceptions
//@ cc: gcc
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

static void handler(int, siginfo_t *info, void *)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    if (info->si_addr == reinterpret_cast<void *>(24)) throw std::runtime_error("null pointer");
}

struct Guard {
    ~Guard() { std::puts("unwound"); }
};

__attribute__((noinline)) static int load(volatile int *p)
{
    Guard guard;
    return *p;
}

int main()
{
    struct sigaction action;
    std::memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
    for (int i = 0; i < 3; i++) {
        try {
            std::printf("%d\n", load(reinterpret_cast<volatile int *>(24)));
        } catch (const std::exception &e) {
            std::puts(e.what());
        }
    }
}
