// Functions, and their calls, at addresses that differ in bits above the lowest 16 only, called in turn while signals arrive.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define TICKS 40

typedef unsigned (*function)(unsigned x, int depth);

static volatile sig_atomic_t ticks;
static function volatile functions[6];

static void tick(int signal)
{
    (void)signal;
    ticks++;
}

// Each calls another one, and goes on differently after that.
#define FAR(n)                                                                                  \
    __attribute__((noinline, aligned(65536))) static unsigned far_##n(unsigned x, int depth)    \
    {                                                                                           \
        return depth ? functions[(x + n) % 6](x * 5 + n, depth - 1) * 3 + n : x;                \
    }
FAR(0)
FAR(1)
FAR(2)
FAR(3)
FAR(4)
FAR(5)

int main(void)
{
    function all[6] = {far_0, far_1, far_2, far_3, far_4, far_5};
    for (int n = 0; n < 6; n++) functions[n] = all[n];
    unsigned sum = 0;
    for (unsigned n = 0; n < 200000; n++) sum += functions[n % 6](n, 8);
    printf("%u\n", sum);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = tick;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval every = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &every, NULL);
    // Ends only if each signal is delivered, wherever it arrives.
    for (unsigned n = 0; ticks < TICKS; n++) functions[n % 6](n, 8);
    printf("%d ticks\n", TICKS);
    return 0;
}
