// All vector registers keep all their bits over system calls, cpuid, new code, far calls of libc and many blocks.
//@ flags: -mavx2
//@ needs: avx2
#include "guest.h"
#include <sys/mman.h>
#include <sys/syscall.h>

// Loads ymm0-15 from rdi, calls rsi with nothing touched since, stores them to rdi + 512.
void with_vectors(void *area, void (*function)(void));
void do_syscall(void), do_cpuid(void), do_xgetbv(void), do_jumps(void), call_fresh(void);

__asm__(".text\n"
        ".macro eachymm op\n"
        "  \\op 0, ymm0\n \\op 1, ymm1\n \\op 2, ymm2\n \\op 3, ymm3\n \\op 4, ymm4\n \\op 5, ymm5\n"
        "  \\op 6, ymm6\n \\op 7, ymm7\n \\op 8, ymm8\n \\op 9, ymm9\n \\op 10, ymm10\n \\op 11, ymm11\n"
        "  \\op 12, ymm12\n \\op 13, ymm13\n \\op 14, ymm14\n \\op 15, ymm15\n"
        ".endm\n"
        ".macro loady n, r\n vmovdqu 32*\\n(%rdi), %\\r\n .endm\n"
        ".macro storey n, r\n vmovdqu %\\r, 512+32*\\n(%rdi)\n .endm\n"
        "with_vectors:\n"
        "  push %rdi\n"
        "  push %rbx\n"
        "  sub $8, %rsp\n"
        "  eachymm loady\n"
        "  call *%rsi\n"
        "  add $8, %rsp\n"
        "  pop %rbx\n"
        "  pop %rdi\n"
        "  eachymm storey\n"
        "  vzeroupper\n"
        "  ret\n"
        "do_syscall: mov $39, %eax\n syscall\n mov $186, %eax\n syscall\n ret\n"
        "do_cpuid: xor %eax, %eax\n cpuid\n mov $7, %eax\n xor %ecx, %ecx\n cpuid\n ret\n"
        "do_xgetbv: xor %ecx, %ecx\n xgetbv\n ret\n"
        "do_jumps: mov $100, %ecx\n lea 2f(%rip), %rax\n 1: jmp *%rax\n nop\n 2: dec %ecx\n jnz 1b\n ret\n"
        "call_fresh: jmp *fresh_code(%rip)\n");

void (*fresh_code)(void);

static unsigned char area[1024];

static void expect_kept(const char *what, void (*function)(void))
{
    fill_random(area, 512, 77);
    memset(area + 512, 0, 512);
    with_vectors(area, function);
    printf("%-8s %s\n", what, memcmp(area, area + 512, 512) ? "lost" : "kept");
}

int main(void)
{
    expect_kept("syscall", do_syscall);
    expect_kept("cpuid", do_cpuid);
    expect_kept("xgetbv", do_xgetbv);
    expect_kept("jumps", do_jumps);
    // Code nobody has seen yet: whatever has to be done about that must not show either.
    unsigned char *code = (unsigned char *)mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED);
    for (int i = 0; i < 1000; i++) memcpy(code + 64 * i, "\xeb\x3e", 2); // jmp +62
    code[64 * 1000] = 0xc3;
    fresh_code = (void (*)(void))code;
    expect_kept("new code", call_fresh);
    return 0;
}
