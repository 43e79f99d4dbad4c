// Rules that raise exceptions are interrupted at any moment, by handlers that compute and raise some themselves.
//
// In several threads. Flags and results stay what they are without interruption.
//@ libs: -lm -lpthread
#define _GNU_SOURCE
#include <immintrin.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

double shift = 0;
static volatile double three = 3, one = 1, big = 0x1p600, small = 0x1p-600;
static volatile sig_atomic_t interruptions;
static volatile int failed;

static double keep(double x)
{
    __asm__ volatile("" : "+x"(x));
    return x;
}

static void handler(int signal)
{
    (void)signal;
    interruptions++;
    if ((_mm_getcsr() & 0x3f) != 0) failed = 1;
    volatile double x = one / keep(shift) + keep(shift) / three;
    if ((_mm_getcsr() & 0x3f) != 4) failed = 2;
    x = x / three + one / three;
    (void)x;
}

// Raises nothing but by rules, then division by zero, then what is inexact.
static unsigned rules(unsigned start)
{
    _mm_setcsr(0x1f80 | start);
    double x = keep(sqrt(keep(shift)));
    x = keep(x * keep(x));
    x += keep(shift * big) * big + keep(shift * small) * small + pow(shift, 0.5) + cbrt(shift);
    x += keep(keep(shift / three) * keep(shift / three));
    unsigned quiet = _mm_getcsr();
    volatile double y = one / keep(x);
    unsigned zero = _mm_getcsr();
    y = one / three;
    (void)y;
    unsigned inexact = _mm_getcsr();
    return (quiet & 0x3f) | (zero & 0x3f) << 8 | (inexact & 0x3f) << 16;
}

static void *work(void *unused)
{
    (void)unused;
    // A slow engine is interrupted often enough in the first turns.
    for (int i = 0; i < 8000 && (i < 1000 || interruptions < 2000); i++) {
        unsigned start = i % 3 == 0 ? 0 : i % 3 == 1 ? 0x20 : 0x12;
        unsigned zero = start | 4, expected = start | zero << 8 | (zero | 0x20) << 16;
        if (rules(start) != expected) failed = 3;
    }
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval every = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &every, NULL);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%s %d\n", interruptions > 0 ? "interrupted" : "never", failed);
    printf("%g\n", shift / three);
    return 0;
}
