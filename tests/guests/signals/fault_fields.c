// What a SIGSEGV says: address, code, trap number, error code, instruction, for each kind of access.
#include "signals.h"
#include <setjmp.h>
#include <sys/mman.h>

static sigjmp_buf back;
static siginfo_t seen;
static greg_t rip, trap, error, cr2, rsp;

static void handler(int s, siginfo_t *info, void *c)
{
    (void)s;
    seen = *info;
    rip = REG(c, RIP), trap = REG(c, TRAPNO), error = REG(c, ERR), cr2 = REG(c, CR2), rsp = REG(c, RSP);
    siglongjmp(back, 1);
}

#define FAULT(name, label, address, asm_text, ...)                                                         \
    do {                                                                                                   \
        extern char label[];                                                                               \
        void *expected = (void *)(address);                                                                \
        if (!sigsetjmp(back, 1)) {                                                                         \
            __asm__ volatile(".globl " #label "\n" asm_text : : "r"(expected), ##__VA_ARGS__               \
                             : "rax", "rcx", "rdx", "rsi", "rdi", "xmm0", "memory", "cc");                 \
            CHECK(!"fault");                                                                               \
        }                                                                                                  \
        printf("%-14s signal %d code %d address %d cr2 %d rip %d trap %ld error %ld\n", name, seen.si_signo, \
               seen.si_code, seen.si_addr == expected, trap != 14 || cr2 == (greg_t)expected, rip == (greg_t)label,      \
               (long)trap, (long)error);                                                                   \
    } while (0)

int main(void)
{
    static char stack[65536];
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    CHECK(sigaltstack(&alternative, NULL) == 0);
    on_signal(SIGSEGV, handler, SA_ONSTACK);
    on_signal(SIGBUS, handler, SA_ONSTACK);
    char *none = (char *)mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *readonly = (char *)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(munmap(none + 2 * 4096, 4096) == 0);
    (void)*(volatile char *)readonly;
    FAULT("read", f_read, none + 2 * 4096 + 8, "f_read: mov (%0), %%rax");
    FAULT("write", f_write, none + 2 * 4096, "f_write: movb $1, (%0)");
    FAULT("no rights", f_rights, none + 100, "f_rights: mov (%0), %%al");
    FAULT("read-only", f_readonly, readonly + 5, "f_readonly: movb $1, (%0)");
    FAULT("null", f_null, 0, "f_null: mov (%0), %%eax");
    FAULT("vector", f_vector, none, "f_vector: movups (%0), %%xmm0");
    FAULT("read-modify", f_rmw, readonly, "f_rmw: lock incl (%0)");
    FAULT("push", f_push, none + 4096 + 8, "mov %%rsp, %%rdx\n lea 8(%0), %%rsp\n f_push: push %%rax\n ud2");
    FAULT("kernel", f_kernel, 0xffff800000000000, "f_kernel: mov (%0), %%rax");
    FAULT("non-canonical", f_canonical, 0, "mov $0x8000000000000000, %%rax\n f_canonical: mov (%%rax), %%rax");
    FAULT("misaligned", f_aligned, 0, "f_aligned: movaps 1(%1), %%xmm0", "r"(readonly));
    FAULT("privileged", f_hlt, 0, "f_hlt: hlt");
    FAULT("port", f_in, 0, "f_in: in $0x80, %%al");
    FAULT("interrupt", f_int, 0, "f_int: int $0x77");
    CHECK(rsp != 0);
    return 0;
}
