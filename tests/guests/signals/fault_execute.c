// Jumping to where no code may be run: null, unmapped, no rights, data; the fault belongs to the target.
#include "signals.h"
#include <setjmp.h>
#include <sys/mman.h>

static sigjmp_buf back;
static siginfo_t seen;
static greg_t rip, error;
static uint64_t on_stack;

static void handler(int s, siginfo_t *info, void *c)
{
    (void)s;
    seen = *info, rip = REG(c, RIP), error = REG(c, ERR);
    memcpy(&on_stack, (void *)REG(c, RSP), 8);
    siglongjmp(back, 1);
}

static void try(const char *name, void *target)
{
    extern char after_call[];
    for (volatile int kind = 0; kind < 3; kind++) {
        if (sigsetjmp(back, 1)) {
            printf("%-10s %d signal %d code %d address %d rip %d return %d error %ld\n", name, kind, seen.si_signo, seen.si_code,
                   seen.si_addr == target, rip == (greg_t)target, kind ? 1 : on_stack == (uint64_t)after_call, (long)error & 0x14);
            continue;
        }
        if (kind == 0) __asm__ volatile("call *%0\n .globl after_call\n after_call:" : : "r"(target) : "memory");
        if (kind == 1) __asm__ volatile("jmp *%0" : : "r"(target) : "memory");
        if (kind == 2) __asm__ volatile("push %0\n ret" : : "r"(target) : "memory");
    }
}

int main(void)
{
    static char data[64] = {(char)0xc3};
    on_signal(SIGSEGV, handler, 0);
    char *pages = (char *)mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(pages, 0x90, 3 * 4096);
    CHECK(mprotect(pages + 4096, 4096, PROT_NONE) == 0);
    try("null", NULL);
    try("small", (void *)0x1234);
    try("no rights", pages + 4096 + 7);
    try("data", data);
    // Running into a page without rights, from one with: the border is the address, whatever instruction is cut.
    try("into", pages + 4096);
    if (!sigsetjmp(back, 1)) ((void (*)(void))(pages + 4090))();
    printf("fell %d %d\n", rip == (greg_t)(pages + 4096), seen.si_addr == pages + 4096);
    pages[4095] = (char)0xb8; // mov $imm32, whose immediate lies behind the border
    if (!sigsetjmp(back, 1)) ((void (*)(void))(pages + 4090))();
    printf("cut %d %d\n", rip == (greg_t)(pages + 4095), seen.si_addr == pages + 4096);
    // Executed once, then taken away.
    pages[0] = (char)0xc3;
    ((void (*)(void))pages)();
    CHECK(mprotect(pages, 4096, PROT_READ) == 0);
    try("taken", pages);
    CHECK(munmap(pages, 4096) == 0);
    try("unmapped", pages);
    return 0;
}
