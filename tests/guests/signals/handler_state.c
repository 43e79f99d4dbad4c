// How a handler starts: registers, stack alignment, direction flag, MXCSR and x87 at their defaults, and all restored.
#include "signals.h"

void bare_handler(void);

__asm__(".text\n"
        "bare_handler:\n"
        "  mov %rdi, handler_entry(%rip)\n mov %rsi, handler_entry+8(%rip)\n mov %rdx, handler_entry+16(%rip)\n"
        "  mov %rax, handler_entry+24(%rip)\n mov %rsp, handler_entry+32(%rip)\n"
        "  pushfq\n pop handler_entry+40(%rip)\n"
        "  stmxcsr handler_entry+48(%rip)\n fnstcw handler_entry+56(%rip)\n"
        "  std\n fld1\n fld1\n mov $0, %ebx\n mov $0, %r12d\n"   // none of which may survive
        "  ret\n"
        ".data\n .balign 8\n handler_entry: .zero 64\n .text\n");
extern uint64_t entry[8] __asm__("handler_entry");

int main(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = (void (*)(int, siginfo_t *, void *))(void *)bare_handler;
    CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
    unsigned mxcsr = 0x7f80 | 0x8000, usual = 0x1f80;
    unsigned short control = 0x0c7f;
    uint64_t rbx, r12, flags, below;
    __asm__ volatile("ldmxcsr %4\n fldcw %5\n fldpi\n std\n stc\n mov $77, %%ebx\n mov $88, %%r12d\n"
                     "movq $0x5a5a5a, -120(%%rsp)\n"
                     "int3\n"
                     "mov -120(%%rsp), %3\n pushfq\n pop %2\n cld\n  mov %%rbx, %0\n mov %%r12, %1\n fstp %%st\n"
                     : "=&r"(rbx), "=&r"(r12), "=&r"(flags), "=&r"(below) : "m"(mxcsr), "m"(control) : "rbx", "r12", "cc", "memory", "st");
    CHECK(below == 0x5a5a5a); // the red zone
    unsigned back;
    unsigned short control_back;
    __asm__ volatile("stmxcsr %0\n fnstcw %1\n ldmxcsr %2\n fninit" : "=m"(back), "=m"(control_back) : "m"(usual));
    printf("after: %ld %ld df %d cf %d mxcsr %x control %x\n", rbx, r12, (flags & 0x400) != 0, (int)(flags & 1), back, control_back);
    printf("inside: signal %ld rax %ld aligned %d df %d mxcsr %x control %x\n", entry[0], entry[3], entry[4] % 16 == 8,
           (entry[5] & 0x400) != 0, (unsigned)entry[6], (unsigned)entry[7]);
    CHECK(entry[1] > entry[4] && entry[2] > entry[4] && entry[1] < entry[4] + 8192);
    return 0;
}
