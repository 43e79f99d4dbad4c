// setjmp and longjmp: up many frames, repeatedly, with register variables, and with the signal mask.
#include "guest.h"
#include <setjmp.h>
#include <signal.h>

static jmp_buf outer;
static sigjmp_buf masked;

__attribute__((noinline)) static void descend(int depth)
{
    if (depth == 0) longjmp(outer, 17);
    descend(depth - 1);
    __asm__ volatile("" : : : "memory");
}

int main(void)
{
    volatile int jumps = 0;
    int code = setjmp(outer);
    if (code) CHECK(code == 17);
    if (++jumps < 5000) descend(jumps % 60);
    printf("%d jumps\n", (int)jumps);
    // longjmp with 0 returns 1.
    volatile int zero = 0;
    if (!(code = setjmp(outer))) longjmp(outer, zero);
    CHECK(code == 1);
    sigset_t block, now;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    if (sigsetjmp(masked, 1) == 0) {
        sigprocmask(SIG_BLOCK, &block, NULL);
        siglongjmp(masked, 1);
    }
    sigprocmask(SIG_SETMASK, NULL, &now);
    CHECK(!sigismember(&now, SIGUSR1));
    if (sigsetjmp(masked, 0) == 0) {
        sigprocmask(SIG_BLOCK, &block, NULL);
        siglongjmp(masked, 1);
    }
    sigprocmask(SIG_SETMASK, NULL, &now);
    CHECK(sigismember(&now, SIGUSR1));
    puts("masks as they should be");
    return 0;
}
