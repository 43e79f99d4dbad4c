// rip-relative operands of code that lies far from everything else, in every kind of instruction.
#include "guest.h"
#include <sys/mman.h>

extern const char far_code[], far_code_end[], far_data[];
__asm__(".text\n"
        ".globl far_code\n .globl far_code_end\n .globl far_data\n"
        ".balign 16\n"
        "far_code:\n"
        "  push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "  xor %eax, %eax\n"
        "  .irp reg, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15\n"
        "  mov far_data(%rip), %\\reg\n"
        "  add %\\reg, %rax\n"
        "  lea far_data+8(%rip), %\\reg\n"
        "  add (%\\reg), %rax\n"
        "  add %\\reg, far_data+16(%rip)\n"
        "  sub %\\reg, far_data+16(%rip)\n"
        "  xchg %\\reg, far_data+16(%rip)\n"
        "  .endr\n"
        "  mov %rsp, %r9\n"
        "  mov far_data+24(%rip), %rsp\n"       // the stack pointer loaded from far, and put back
        "  mov %rsp, %r8\n"
        "  mov %r9, %rsp\n"
        "  add %r8, %rax\n"
        "  add far_data(%rip), %rax\n"
        "  adc $0, %rax\n"
        "  cmpq $77, far_data+8(%rip)\n"
        "  setne %cl\n"
        "  movzbl %cl, %ecx\n"
        "  add %rcx, %rax\n"
        "  movl $0x12345678, far_data+32(%rip)\n"   // displacement and immediate in one instruction
        "  movw $0x4321, far_data+36(%rip)\n"
        "  imul $3, far_data+8(%rip), %rcx\n"
        "  add %rcx, %rax\n"
        "  push far_data+32(%rip)\n"
        "  pop far_data+40(%rip)\n"
        "  xor far_data+40(%rip), %rax\n"
        "  movups far_data+48(%rip), %xmm0\n"
        "  addpd far_data+48(%rip), %xmm0\n"
        "  movups %xmm0, far_data+64(%rip)\n"
        "  cvtsd2si far_data+48(%rip), %rcx\n"
        "  add %rcx, %rax\n"
        "  fldl far_data+56(%rip)\n"
        "  faddl far_data+48(%rip)\n"
        "  fstpl far_data+80(%rip)\n"
        "  mov $5, %ecx\n"
        "  mov %rax, %rdx\n"
        "  mov far_data+88(%rip), %rax\n"
        "  lock cmpxchg %rcx, far_data+88(%rip)\n"
        "  lock xadd %rcx, far_data+88(%rip)\n"
        "  add %rdx, %rax\n"
        "  add %rcx, %rax\n"
        "  shll $3, far_data+96(%rip)\n"
        "  bts $5, far_data+96(%rip)\n"
        "  notl far_data+100(%rip)\n"
        "  ldmxcsr far_data+104(%rip)\n"
        "  stmxcsr far_data+108(%rip)\n"
        "  lea 1f(%rip), %rcx\n"
        "  mov %rcx, far_data+112(%rip)\n"
        "  jmp *far_data+112(%rip)\n"
        "  ud2\n"
        "1: lea 2f(%rip), %rcx\n"
        "  mov %rcx, far_data+112(%rip)\n"
        "  mov %rsp, %rdx\n"
        "  call *far_data+112(%rip)\n"
        "  movq $0, far_data+112(%rip)\n"
        "  pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n"
        "  ret\n"
        "2: sub %rsp, %rdx\n"
        "  add %rdx, %rax\n"
        "  ret\n"
        ".balign 16\n"
        "far_data: .quad 11, 22, 33, 44, 0, 0\n .double 1.5, 2.5\n .quad 0, 0, 0, 5\n"
        "  .long 7, 9, 0x1f80, 0\n .quad 0\n"
        "far_code_end:\n");

int main(void)
{
    size_t size = (size_t)(far_code_end - far_code);
    // Where the system likes, low, and ever further from everything else.
    static const uint64_t places[] = {0, 0x30000000, 0x2000000000, 0x23456789000, 0x80000000000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        void *at = (void *)places[i];
        char *code = (char *)mmap(at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                  MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
        CHECK(code != MAP_FAILED);
        memcpy(code, far_code, size);
        char *data = code + (far_data - far_code);
        for (int round = 0; round < 3; round++) {
            // rax depends on the address by what was exchanged; the data is what is compared.
            ((long (*)(void))code)();
            memset(data + 16, 0, 8);
            printf("%016lx ", hash_bytes(HASH_START, data, size - (size_t)(far_data - far_code)));
        }
        puts("");
    }
    return 0;
}
