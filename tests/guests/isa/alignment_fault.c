// An unaligned access with the AC flag set raises SIGBUS with BUS_ADRALN, at the program's own instruction.
#include "guest.h"
#include <signal.h>
#include <ucontext.h>

extern const char misaligned[];
static volatile sig_atomic_t seen;

static void handler(int signal, siginfo_t *info, void *context)
{
    ucontext_t *uc = (ucontext_t *)context;
    seen = signal == SIGBUS && info->si_code == BUS_ADRALN
           && uc->uc_mcontext.gregs[REG_RIP] == (greg_t)misaligned;
    uc->uc_mcontext.gregs[REG_EFL] &= ~0x40000l;
}

int main(void)
{
    static long numbers[2];
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGBUS, &action, NULL) == 0);
    __asm__ volatile("pushfq\n orq $0x40000, (%%rsp)\n popfq\n"
                     ".globl misaligned\n"
                     "misaligned: mov 1(%0), %%rax\n"
                     : : "r"(numbers) : "rax", "cc", "memory");
    printf("%d\n", (int)seen);
    return 0;
}
