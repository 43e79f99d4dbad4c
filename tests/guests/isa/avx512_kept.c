// zmm0-31 and k0-7 keep all their bits over system calls, cpuid, new code and many blocks.
//@ flags: -mavx512f -mavx512bw
//@ needs: avx512f avx512bw
#include "guest.h"
#include <sys/mman.h>

void with_state(void *area, void (*function)(void));
void do_syscall(void), do_cpuid(void), do_jumps(void), call_fresh(void);

__asm__(".text\n"
        "with_state:\n"
        "  push %rdi\n push %rbx\n sub $8, %rsp\n"
        "  .altmacro\n"
        "  .macro loadz n\n vmovdqu64 64*\\n(%rdi), %zmm\\n\n .endm\n"
        "  .macro storez n\n vmovdqu64 %zmm\\n, 2112+64*\\n(%rdi)\n .endm\n"
        "  .macro loadk n\n kmovq 2048+8*\\n(%rdi), %k\\n\n .endm\n"
        "  .macro storek n\n kmovq %k\\n, 2112+2048+8*\\n(%rdi)\n .endm\n"
        "  .set i, 0\n .rept 32\n loadz %i\n .set i, i+1\n .endr\n"
        "  .set i, 0\n .rept 8\n loadk %i\n .set i, i+1\n .endr\n"
        "  call *%rsi\n"
        "  add $8, %rsp\n pop %rbx\n pop %rdi\n"
        "  .set i, 0\n .rept 32\n storez %i\n .set i, i+1\n .endr\n"
        "  .set i, 0\n .rept 8\n storek %i\n .set i, i+1\n .endr\n"
        "  .noaltmacro\n"
        "  vzeroupper\n"
        "  ret\n"
        "do_syscall: mov $39, %eax\n syscall\n mov $186, %eax\n syscall\n ret\n"
        "do_cpuid: xor %eax, %eax\n cpuid\n mov $7, %eax\n xor %ecx, %ecx\n cpuid\n ret\n"
        "do_jumps: mov $100, %ecx\n lea 2f(%rip), %rax\n 1: jmp *%rax\n nop\n 2: dec %ecx\n jnz 1b\n ret\n"
        "call_fresh: jmp *fresh_code(%rip)\n");

void (*fresh_code)(void);
static unsigned char area[2 * 2112];

static void expect_kept(const char *what, void (*function)(void))
{
    fill_random(area, 2112, 99);
    memset(area + 2112, 0, 2112);
    with_state(area, function);
    printf("%-8s %s\n", what, memcmp(area, area + 2112, 2112) ? "lost" : "kept");
}

int main(void)
{
    expect_kept("syscall", do_syscall);
    expect_kept("cpuid", do_cpuid);
    expect_kept("jumps", do_jumps);
    unsigned char *code = (unsigned char *)mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED);
    for (int i = 0; i < 1000; i++) memcpy(code + 64 * i, "\xeb\x3e", 2);
    code[64 * 1000] = 0xc3;
    fresh_code = (void (*)(void))code;
    expect_kept("new code", call_fresh);
    return 0;
}
