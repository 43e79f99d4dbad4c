// A program that unmasks exceptions gets a signal where its own arithmetic raises one.
//
// The code, the address and the MXCSR in the frame are as natively. There is none where only the rule for a derivative
// raises it.
//@ libs: -lm
//@ flags: -mxsave
#define _GNU_SOURCE
#include <fenv.h>
#include <immintrin.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

double shift = 0;
static volatile double one = 1, three = 3, big = 0x1p600, small = 0x1p-600, denormal = 0x1p-1074, out;
static volatile sig_atomic_t caught;
static sigjmp_buf escape;


static double keep(double x)
{
    __asm__ volatile("" : "+x"(x));
    return x;
}

static void escaping(int signal, siginfo_t *info, void *context)
{
    ucontext_t *frame = context;
    (void)signal;
    printf("  code %d, mxcsr %04x in the frame, %04x in the handler", info->si_code, frame->uc_mcontext.fpregs->mxcsr,
           _mm_getcsr());
    double x = keep(shift + one) / three;
    printf(", then %04x: %.17g\n", _mm_getcsr(), x);
    caught++;
    siglongjmp(escape, 1);
}

// Masks what was raised and goes on with the same instruction.
static void masking(int signal, siginfo_t *info, void *context)
{
    ucontext_t *frame = context;
    (void)signal;
    caught++;
    printf("  code %d, mxcsr %04x\n", info->si_code, frame->uc_mcontext.fpregs->mxcsr);
    frame->uc_mcontext.fpregs->mxcsr |= 0x1f80;
    frame->uc_mcontext.fpregs->mxcsr &= ~0x3fu;
}

static void install(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGFPE, &action, NULL);
}

enum { INVALID, DENORMAL, ZERO, OVERFLOW, UNDERFLOW, INEXACT, KINDS };
static const char *const names[] = {"invalid", "denormal", "zero", "overflow", "underflow", "inexact"};

static double raise_own(int kind)
{
    double x = keep(shift / three), huge = keep(shift * big), tiny = keep(shift * small);
    switch (kind) {
    case INVALID: return keep(x) / keep(shift);
    case DENORMAL: return keep(shift + denormal) + x;
    case ZERO: return one / keep(x);
    case OVERFLOW: return (huge + big) * big;
    case UNDERFLOW: return (tiny + small) * small;
    default: return (x + one) / three;
    }
}

// Raises nothing, but by rules everything.
static double harmless(void)
{
    double x = keep(sqrt(keep(shift)));
    x = keep(x * keep(x));
    x += keep(shift * big) * big;
    x += keep(shift * small) * small;
    x += pow(shift, 0.5) + asin(shift) + cbrt(shift);
    return x + keep(shift / three);
}

static void try_all(unsigned unmasked)
{
    for (int kind = 0; kind < KINDS; kind++) {
        feclearexcept(FE_ALL_EXCEPT);
        _mm_setcsr(0x1f80 & ~(unmasked << 7));
        out = harmless();
        unsigned quiet = _mm_getcsr();
        printf("%s %02x: %04x\n", names[kind], unmasked, quiet);
        if (sigsetjmp(escape, 1) == 0) {
            double x = raise_own(kind);
            unsigned after = _mm_getcsr();
            _mm_setcsr(0x1f80);
            printf("  went on: %.17g %04x\n", x, after);
        } else {
            printf("  escaped, %04x\n", _mm_getcsr());
        }
        _mm_setcsr(0x1f80);
    }
}

static void ends(int kind)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGFPE, SIG_DFL);
        _mm_setcsr(0x1f80 & ~(1u << (7 + kind)));
        out = harmless();
        out = raise_own(kind);
        _exit(7);
    }
    int status;
    waitpid(child, &status, 0);
    printf("%s ends it: %x\n", names[kind], status & 0x7f);
}

int main(void)
{
    install(escaping);
    try_all(0);
    for (int kind = 0; kind < KINDS; kind++) try_all(1u << kind);
    try_all(0x0d);
    try_all(0x3f);
    install(masking);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < 6; i++) {
            _mm_setcsr(0x1f80 & ~(1u << (7 + kind)));
            double x = raise_own(kind);
            unsigned after = _mm_getcsr();
            _mm_setcsr(0x1f80);
            printf("%s: %.17g %04x\n", names[kind], x, after);
        }
    }
    for (int kind = 0; kind < KINDS; kind++) ends(kind);
    printf("%d caught\n", (int)caught);
    printf("%g\n", shift / three);
    return 0;
}
