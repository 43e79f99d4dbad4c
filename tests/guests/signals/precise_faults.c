// A fault in the middle of a block shows every register, flag and vector register as of that instruction.
#include "signals.h"
#include <setjmp.h>
#include <sys/mman.h>

static char *bad, *good;
static greg_t context[23];
static unsigned vector[8];
static sigjmp_buf back;
static char stack[65536];

static void handler(int s, siginfo_t *i, void *c)
{
    (void)s, (void)i;
    memcpy(context, ((ucontext_t *)c)->uc_mcontext.gregs, sizeof context);
    memcpy(vector, &((ucontext_t *)c)->uc_mcontext.fpregs->_xmm[5], 16);
    siglongjmp(back, 1);
}

// Every register has a known value, then one instruction faults; the ones around it must not have happened.
#define SETUP                                                                                              \
    "mov %0, %%rdi\n mov %1, %%rsi\n mov %%rsp, %%r8\n"                                                     \
    "mov $0x101, %%eax\n mov $0x202, %%ebx\n mov $0x303, %%ecx\n mov $0x404, %%edx\n"                       \
    "mov $0x909, %%r9d\n mov $0xa0a, %%r10d\n mov $0xb0b, %%r11d\n mov $0xc0c, %%r12d\n"                    \
    "mov $0xd0d, %%r13d\n mov $0xe0e, %%r14d\n mov $0xf0f, %%r15d\n"                                        \
    "movd %%eax, %%xmm5\n pcmpeqd %%xmm6, %%xmm6\n stc\n"
#define AFTER "inc %%rax\n inc %%rbx\n inc %%rcx\n paddd %%xmm6, %%xmm5\n clc\n ud2"

// The label marks the instruction that faults.
#define FAULT(name, label, instruction)                                                                     \
    do {                                                                                                    \
        extern char label[];                                                                                \
        memset(good, 0, 4096);                                                                              \
        if (!sigsetjmp(back, 1)) {                                                                          \
            __asm__ volatile(".globl " #label "\n" SETUP "incl 64(%%rsi)\n" instruction "\n" AFTER \
                             : : "a"(bad), "d"(good)                                                        \
                             : "rbx", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm5", "xmm6", "memory", "cc"); \
        }                                                                                                   \
        report(name, label);                                                                                \
    } while (0)

static void report(const char *name, char *label)
{
    static const struct { int reg; greg_t value; } expected[] = {
        {REG_RAX, 0x101}, {REG_RBX, 0x202}, {REG_RCX, 0x303}, {REG_RDX, 0x404}, {REG_R9, 0x909}, {REG_R10, 0xa0a},
        {REG_R11, 0xb0b}, {REG_R12, 0xc0c}, {REG_R13, 0xd0d}, {REG_R14, 0xe0e}, {REG_R15, 0xf0f}};
    int wrong = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) wrong += context[expected[i].reg] != expected[i].value;
    wrong += context[REG_RDI] != (greg_t)bad;
    printf("%-12s rip %d wrong %d rsp %ld carry %d vector %x stored %d\n", name, context[REG_RIP] == (greg_t)label, wrong,
           context[REG_RSP] > (greg_t)bad - 64 && context[REG_RSP] < (greg_t)bad + 8192 ? (long)(context[REG_RSP] - (greg_t)bad) : 0l,
           (int)(context[REG_EFL] & 1), vector[0], good[64]);
}

int main(void)
{
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    CHECK(sigaltstack(&alternative, NULL) == 0);
    on_signal(SIGSEGV, handler, SA_ONSTACK);
    bad = (char *)mmap(NULL, 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4096;
    good = (char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FAULT("load", p_load, "p_load: mov (%%rdi), %%rax");
    FAULT("add", p_add, "p_add: add (%%rdi), %%rbx");
    FAULT("store", p_store, "p_store: mov %%rcx, 16(%%rdi)");
    FAULT("movsd", p_movsd, "p_movsd: movsd (%%rdi), %%xmm5");
    FAULT("addps", p_addps, "p_addps: addps (%%rdi), %%xmm5");
    FAULT("cmpxchg", p_cmpxchg, "p_cmpxchg: lock cmpxchg %%rcx, (%%rdi)");
    FAULT("xchg", p_xchg, "p_xchg: xchg %%rcx, (%%rdi)");
    FAULT("call mem", p_call, "p_call: call *(%%rdi)");
    FAULT("jmp mem", p_jmp, "p_jmp: jmp *8(%%rdi)");
    FAULT("push mem", p_pushm, "p_pushm: push (%%rdi)");
    FAULT("pop mem", p_popm, "p_popm: pop (%%rdi)");
    FAULT("push", p_push, "mov %%rdi, %%rsp\n p_push: push %%rax");
    FAULT("ret", p_ret, "mov %%rdi, %%rsp\n p_ret: ret");
    FAULT("call", p_callb, "mov %%rdi, %%rsp\n p_callb: call *%%rax");
    FAULT("call near", p_calln, "mov %%rdi, %%rsp\n p_calln: call abort");
    FAULT("div", p_div, "p_div: divq (%%rdi)");
    FAULT("fld", p_fld, "p_fld: fldl (%%rdi)");
    FAULT("imul", p_imul, "p_imul: imul $3, (%%rdi), %%rbx");
    return 0;
}
