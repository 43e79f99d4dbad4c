// fs: and gs: operands in every form, and the bases set by arch_prctl and by wrfsbase and wrgsbase.
//@ needs: fsgsbase
#include "guest.h"
#include <asm/prctl.h>
#include <sys/syscall.h>

static unsigned char block[4096] __attribute__((aligned(64)));

static long set_base(int code, void *base) { return syscall(SYS_arch_prctl, code, base); }

// Runs with another fs base; nothing of libc may run in between.
long all_fs_forms(void *base);
long all_gs_forms(void);
__asm__(".text\n"
        ".macro forms seg\n"
        "  movq %\\seg:8, %rax\n"                   // absolute
        "  mov $16, %ecx\n"
        "  addq %\\seg:(%rcx), %rax\n"              // base
        "  mov $2, %edx\n"
        "  addq %\\seg:8(%rcx,%rdx,8), %rax\n"      // base, index, displacement
        "  addq %\\seg:0(,%rdx,8), %rax\n"
        "  incq %\\seg:48\n"
        "  lock xaddq %rdx, %\\seg:56\n"
        "  lea 64(%rcx), %r8\n"
        "  movups %\\seg:(%rcx), %xmm0\n"
        "  movups %xmm0, %\\seg:64\n"
        "  addsd %\\seg:16, %xmm0\n"
        "  pushq %\\seg:8\n"
        "  popq %\\seg:96\n"
        "  mov $-8, %r9\n"
        "  movq %\\seg:16(%r9), %r10\n"             // a negative offset wraps in the sum, not beyond it
        "  add %r10, %rax\n"
        "  addr32 movq %\\seg:16(%r9d), %r10\n"     // 67h cuts the offset before the base is added
        "  add %r10, %rax\n"
        "  cmpb $1, %\\seg:9\n"
        "  sete %\\seg:104\n"
        "  imul $3, %\\seg:16, %r11\n"
        "  add %r11, %rax\n"
        "  movabs %\\seg:24, %al\n"
        ".endm\n"
        "all_fs_forms:\n"
        "  rdfsbase %rsi\n"
        "  wrfsbase %rdi\n"
        "  forms fs\n"
        "  rdfsbase %rdi\n"
        "  wrfsbase %rsi\n"
        "  add %rdi, %rax\n"
        "  ret\n"
        "all_gs_forms:\n"
        "  forms gs\n"
        "  lea 1f(%rip), %rcx\n"
        "  mov %rcx, %gs:200\n"
        "  call *%gs:200\n"
        "  jmp *%gs:200\n"
        "1: add $5, %rax\n"
        "  ret\n");

static void fill_block(void)
{
    for (int i = 0; i < 512; i++) ((uint64_t *)block)[i] = 0x0101010101010101ull * (uint64_t)i;
}

int main(void)
{
    unsigned long base;
    fill_block();
    printf("%016lx\n", all_fs_forms(block) - (long)block);
    printf("%016lx\n", hash_bytes(HASH_START, block, 200));
    CHECK(set_base(ARCH_SET_GS, block) == 0);
    CHECK(set_base(ARCH_GET_GS, &base) == 0 && base == (unsigned long)block);
    fill_block();
    printf("%016lx\n", all_gs_forms());
    printf("%016lx\n", hash_bytes(HASH_START, block, 200));
    // The base survives calls and a change by instruction is seen by the system call.
    __asm__ volatile("rdgsbase %0" : "=r"(base));
    CHECK(base == (unsigned long)block);
    __asm__ volatile("wrgsbase %0" : : "r"(block + 64));
    CHECK(set_base(ARCH_GET_GS, &base) == 0 && base == (unsigned long)block + 64);
    CHECK(set_base(ARCH_SET_GS, NULL) == 0);
    CHECK(set_base(ARCH_GET_FS, &base) == 0);
    unsigned long self;
    __asm__ volatile("mov %%fs:0, %0" : "=r"(self));
    CHECK(self == base);
    // Non-canonical bases are refused.
    CHECK(set_base(ARCH_SET_GS, (void *)0x8000000000000000) == -1 && errno == EPERM);
    return 0;
}
