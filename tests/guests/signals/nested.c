// Handlers inside handlers, five deep, each with its own locals, floating-point values and system calls.
#include "signals.h"
#include <sys/syscall.h>

static const int chain[] = {SIGUSR1, SIGUSR2, SIGHUP, SIGTERM, SIGSEGV, 0};
static volatile double results[6];

static void handler(int s, siginfo_t *i, void *c)
{
    int depth = 0;
    (void)i, (void)c;
    while (chain[depth] != s) depth++;
    double x = depth + 0.5, sum = 0;
    for (int k = 1; k < 100; k++) sum += x / k;
    if (chain[depth + 1]) raise(chain[depth + 1]);
    for (int k = 1; k < 100; k++) sum -= x / k;
    syscall(SYS_getppid);
    results[depth] = sum + x;
}

int main(void)
{
    for (int i = 0; chain[i]; i++) on_signal(chain[i], handler, 0);
    double outside = 1.25;
    for (int round = 0; round < 100; round++) raise(chain[0]);
    for (int i = 0; chain[i]; i++) printf("%g ", results[i]);
    printf("%g\n", outside);
    return 0;
}
