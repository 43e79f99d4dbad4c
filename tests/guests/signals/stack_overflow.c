// A stack overflow is a SIGSEGV that a handler on the alternate stack survives, again and again.
#include "signals.h"
#include <setjmp.h>

static char stack[65536];
static sigjmp_buf back;
static volatile int near_stack;
static char *volatile base;

static void handler(int s, siginfo_t *info, void *c)
{
    (void)s;
    char *at = (char *)info->si_addr, *rsp = (char *)REG(c, RSP);
    near_stack = at < base && base - at < (9l << 20) && labs(at - rsp) < 70000;
    siglongjmp(back, 1);
}

#pragma GCC diagnostic ignored "-Winfinite-recursion"
__attribute__((noinline)) static long overflow(long depth)
{
    volatile char room[2000];
    room[depth % 2000] = 1;
    long below = overflow(depth + 1);
    __asm__ volatile("" : "+m"(room) : : "memory");
    return below + room[5];
}

int main(void)
{
    char here;
    stack_t want = {.ss_sp = stack, .ss_size = sizeof stack};
    base = &here;
    CHECK(sigaltstack(&want, NULL) == 0);
    on_signal(SIGSEGV, handler, SA_ONSTACK);
    for (volatile int i = 0; i < 5; i++) {
        if (!sigsetjmp(back, 1)) overflow(0);
        printf("%d\n", near_stack);
    }
    return 0;
}
