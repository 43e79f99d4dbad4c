// The floating-point environment as a program sees it while derivatives go through its arithmetic.
//
// It is stored, loaded, held, saved with other state, by signal handlers, in threads and forked processes, and in every
// rounding mode.
//@ libs: -lm -lpthread
//@ flags: -mxsave
#define _GNU_SOURCE
#include <fenv.h>
#include <immintrin.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

double shift = 0;
static volatile double one = 1, three = 3, big = 0x1p600, small = 0x1p-600, out;

static double keep(double x)
{
    __asm__ volatile("" : "+x"(x));
    return x;
}

// Raises nothing, but by rules everything.
static double harmless(void)
{
    double x = keep(sqrt(keep(shift)));
    x = keep(x * keep(x));
    x += keep(shift * big) * big;
    x += keep(shift * small) * small;
    x += pow(shift, 0.5) + cbrt(shift);
    return x + keep(shift / three);
}

static void show(const char *what)
{
    out = harmless();
    printf("%-24s %04x\n", what, _mm_getcsr());
}

static void loads_and_stores(void)
{
    for (unsigned flags = 0; flags < 64; flags += 7) {
        _mm_setcsr(0x1f80 | flags);
        out = harmless();
        printf("%02x %04x\n", flags, _mm_getcsr());
        out = harmless() / three + one / three;
        printf("   %04x\n", _mm_getcsr());
    }
    // Through all addressing modes, with the flags of the processor alive.
    static unsigned stored[4];
    unsigned long base = (unsigned long)stored, index = 2;
    int below = (int)(unsigned)index < 5, still;
    __asm__ volatile("cmp $3, %2\n\tstmxcsr (%1)\n\tstmxcsr -4(%1,%2,8)\n\tvstmxcsr 8(%1)\n\tstmxcsr 4(%1)\n\tsetb %b0"
                     : "=q"(still)
                     : "r"(base), "r"(index)
                     : "memory", "cc");
    printf("%x %x %x %x %d %d\n", stored[0], stored[1], stored[2], stored[3], below, still & 1);
    unsigned register rsp_relative;
    __asm__ volatile("sub $136, %%rsp\n\tstmxcsr 4(%%rsp)\n\tmov 4(%%rsp), %0\n\tadd $136, %%rsp" : "=r"(rsp_relative)::"cc", "memory");
    printf("%x\n", rsp_relative);
    // Loaded with other rounding, or as it is, through registers of all kinds, with all flags of the processor alive.
    for (unsigned mode = 0; mode < 8; mode++) {
        unsigned wanted[2] = {0x1fa0 | (mode & 3) << 13, 0x1fa0 | (mode >> 2) << 15}, flags;
        unsigned char over, carry, below;
        _mm_setcsr(0x1fa0);
        out = harmless();
        __asm__ volatile("mov $0x7fffffff, %%edx\n\tadd $1, %%edx\n\tldmxcsr (%4)\n\tseto %0\n\t"
                         "cmp $3, %5\n\tvldmxcsr 4(%4)\n\tsetb %1\n\tmov %4, %%rax\n\tstc\n\tldmxcsr (%%rax)\n\tsetc %2\n\t"
                         "stmxcsr %3"
                         : "=&r"(over), "=&r"(below), "=&r"(carry), "=m"(flags)
                         : "r"(wanted), "r"(mode)
                         : "rax", "rdx", "cc", "memory");
        double x = harmless() + (one + keep(shift)) / three;
        printf("%u %x %d %d %d %.17g %x\n", mode, flags, over, below, carry, x, _mm_getcsr());
    }
    _mm_setcsr(0x1f80);
}

static void environments(void)
{
    fenv_t first, held;
    fegetenv(&first);
    show("begun");
    out = one / three;
    show("inexact");
    fegetenv(&held);
    feclearexcept(FE_ALL_EXCEPT);
    show("cleared");
    fesetenv(&held);
    show("set");
    feholdexcept(&held);
    show("held");
    out = one / keep(shift);
    show("divided");
    feupdateenv(&held);
    show("updated");
    fesetenv(FE_DFL_ENV);
    show("default");
    feraiseexcept(FE_OVERFLOW);
    show("raised");
    fesetenv(&first);
    show("first");
}

static void images(void)
{
    static unsigned char area[4096] __attribute__((aligned(64)));
    unsigned value;
    for (int i = 0; i < 2; i++) {
        _mm_setcsr(0x1f80 | 0x14);
        out = harmless();
        memset(area, 0, sizeof area);
        if (i == 0) __builtin_ia32_fxsave64(area);
        else __asm__ volatile("xsave64 %0" : "+m"(area) : "a"(7), "d"(0));
        memcpy(&value, area + 24, 4);
        printf("image %04x\n", value);
        out = one / three;
        value = 0x1f81;
        memcpy(area + 24, &value, 4);
        if (i == 0) __builtin_ia32_fxrstor64(area);
        else __asm__ volatile("xrstor64 %0" : : "m"(area), "a"(7), "d"(0));
        show("restored");
    }
    _mm_setcsr(0x1f80);
}

static void handler(int number, siginfo_t *info, void *context)
{
    ucontext_t *frame = context;
    (void)number, (void)info;
    unsigned entered = _mm_getcsr();
    out = harmless();
    printf("handler %04x %04x, frame %04x\n", entered, _mm_getcsr(), frame->uc_mcontext.fpregs->mxcsr);
    out = one / three;
    frame->uc_mcontext.fpregs->mxcsr |= 0x10;
}

static void signals(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 3; i++) {
        feclearexcept(FE_ALL_EXCEPT);
        if (i == 1) out = one / three;
        if (i == 2) out = one / keep(shift);
        out = harmless();
        raise(SIGUSR1);
        show("interrupted");
    }
}

static void *thread(void *unused)
{
    (void)unused;
    show("thread");
    out = one / three;
    show("thread inexact");
    _mm_setcsr(0x1f80 & ~0x280);
    show("thread traps");
    return NULL;
}

static void threads(void)
{
    for (int i = 0; i < 3; i++) {
        feclearexcept(FE_ALL_EXCEPT);
        if (i == 1) out = one / keep(shift);
        if (i == 2) fesetround(FE_UPWARD);
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
        pthread_join(t, NULL);
        show("joined");
    }
    fesetenv(FE_DFL_ENV);
    fflush(stdout);
    if (fork() == 0) {
        show("child");
        out = one / keep(shift);
        show("child divided");
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    show("parent");
}

static void __attribute__((noinline)) rounded(void)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 8; i++) {
        fesetround(modes[i % 4]);
        double x = keep(shift + one) / three;
        double y = keep(x * x - exp(x)) * sqrt(x) / 7;
        float z = (float)y * 0.1f;
        double w = y;
        for (int n = 0; n < 20; n++) w = keep(w * 0.9 + x / 3);
        fesetround(FE_TONEAREST);
        printf("%.17g %.17g %.9g %.17g\n", x, y, z, w);
    }
}

static void zeros(void)
{
    for (int i = 0; i < 4; i++) {
        _mm_setcsr(0x1f80 | (i & 1 ? 0x8000 : 0) | (i & 2 ? 0x40 : 0));
        out = harmless();
        double x = keep(shift + 0x1p-1030) * one;
        printf("%04x %g\n", _mm_getcsr(), x);
        x = keep(shift + small) * small;
        printf("%04x %g\n", _mm_getcsr(), x);
        show("zeros");
    }
    _mm_setcsr(0x1f80);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    for (int i = 0; i < 3; i++) {
        loads_and_stores();
        environments();
        images();
        signals();
        threads();
        zeros();
    }
    rounded();
    return 0;
}
