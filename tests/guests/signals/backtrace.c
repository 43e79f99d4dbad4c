// A backtrace from a handler goes through the signal frame to the function that was interrupted, and to main.
//@ flags: -fno-omit-frame-pointer -rdynamic -fasynchronous-unwind-tables -fno-inline -fno-optimize-sibling-calls
//@ cc: gcc
#include "signals.h"
#include <execinfo.h>

static volatile int depth, found_main, found_inner;

void inner(void)
{
    *(volatile int *)8 = 1;
}
int outer(int x)
{
    inner();
    return x + 1;
}

static void handler(int s, siginfo_t *i, void *c)
{
    void *frames[50];
    (void)s, (void)i;
    depth = backtrace(frames, 50);
    char **names = backtrace_symbols(frames, depth);
    for (int k = 0; k < depth; k++) {
        found_main |= strstr(names[k], "main") != NULL;
        found_inner |= strstr(names[k], "(outer") != NULL;
    }
    REG(c, RIP) = *(greg_t *)(REG(c, RBP) + 8); // back to inner's caller
    REG(c, RSP) = REG(c, RBP) + 16;
    REG(c, RBP) = *(greg_t *)REG(c, RBP);
}

int main(void)
{
    void *warm[4];
    backtrace(warm, 4); // loads libgcc outside the handler
    on_signal(SIGSEGV, handler, 0);
    int result = outer(4);
    printf("%d %d %d %d\n", result, depth > 4, found_main, found_inner);
    return 0;
}
