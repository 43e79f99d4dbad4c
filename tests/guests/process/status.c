// /proc/self/status says which signals the program catches, ignores, blocks and has pending.
#include "guest.h"
#include <pthread.h>
#include <signal.h>

static const char ALL[] = "SigPnd ShdPnd SigBlk SigIgn SigCgt Seccomp Seccomp_filters";

static void show(const char *when, const char *what)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    printf("%s\n", when);
    while (fgets(line, sizeof line, status))
        if (strstr(what, strtok(line, ":"))) printf("%s:%s", line, strtok(NULL, ""));
    fclose(status);
}

static void handler(int signal) { (void)signal; }

static void *in_thread(void *unused)
{
    // What is about one thread only is about the first one here, which may block anything while it waits for this one.
    show("thread", "SigIgn SigCgt");
    return unused;
}

int main(void)
{
    show("start", ALL);
    signal(SIGUSR1, handler);
    signal(SIGSEGV, handler);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGFPE, SIG_IGN);
    signal(SIGRTMIN + 3, handler);
    show("handlers", ALL);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGSEGV);
    sigaddset(&blocked, SIGILL);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    raise(SIGTERM);
    raise(SIGILL);
    show("blocked", ALL);
    pthread_t thread;
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGILL);
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
    signal(SIGUSR1, SIG_DFL);
    signal(SIGTERM, SIG_IGN);
    signal(SIGILL, SIG_IGN);
    show("end", ALL);
    return 0;
}
