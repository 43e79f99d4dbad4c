// The 67h prefix: addresses computed in 32 bits, wrapping, with and without rip, in string instructions too.
#include "guest.h"
#include <sys/mman.h>

long all_forms(void *low, void *code_end);
__asm__(".text\n"
        "all_forms:\n"                      // rdi below 4 GB
        "  push %rbx\n"
        "  mov $0x1111111100000000, %rbx\n"
        "  add %rdi, %rbx\n"                // rubbish in the upper half
        "  mov (%ebx), %rax\n"
        "  add 8(%ebx), %rax\n"
        "  mov $-16, %ecx\n"
        "  add 40(%ebx,%ecx), %rax\n"       // wraps around 2^32
        "  mov $0xffffffff00000002, %rdx\n"
        "  add (%ebx,%edx,8), %rax\n"
        "  lea -1(%edx), %r8\n"             // 32-bit result, zero-extended
        "  add %r8, %rax\n"
        "  lea -3(%edx), %r8\n"
        "  add %r8, %rax\n"
        "  movups (%ebx), %xmm0\n"
        "  movups %xmm0, 64(%ebx)\n"
        "  push 16(%ebx)\n"
        "  pop 96(%ebx)\n"
        "  mov %ebx, %esi\n"
        "  lea 128(%ebx), %edi\n"
        "  mov $0xfff00000007, %rsi\n"
        "  shl $32, %rsi\n"
        "  or %rbx, %rsi\n"                 // upper half ignored by addr32 movs
        "  mov $7, %ecx\n"
        "  btc $40, %rcx\n"                 // and by its counter
        "  addr32 rep movsb\n"
        "  add %rcx, %rax\n"
        "  sub %rbx, %rsi\n"
        "  add %rsi, %rax\n"
        "  mov %ebx, %edi\n"
        "  mov $5, %ecx\n"
        "  addr32 stosb\n"
        "  mov %ebx, %esi\n"
        "  addr32 lodsb\n"
        "  addr32 call *248(%ebx)\n"
        "  pop %rbx\n"
        "  ret\n"
        ".globl add_seven\n"
        "add_seven: add $7, %rax\n ret\n");
extern void add_seven(void);

int main(void)
{
    unsigned char *low = (unsigned char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    CHECK(low != MAP_FAILED && (uintptr_t)low < 1ull << 31);
    for (int i = 0; i < 4096; i++) low[i] = (unsigned char)(i * 7);
    void *target = (void *)add_seven;
    memcpy(low + 248, &target, 8);
    long result = all_forms(low, NULL);
    printf("%016lx\n", hash_bytes(HASH_START, low, 248));
    printf("%016lx\n", result);
    return 0;
}
