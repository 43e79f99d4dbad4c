// Flags live across everything that leaves them alone, popfq sets them, syscall leaves its traces in rcx and r11.
#include "guest.h"
#include <sys/syscall.h>

#define KEEPS(name, code)                                                                               \
    do {                                                                                                \
        int wrong = 0;                                                                                  \
        for (unsigned long mask = 0; mask < 64; mask++) {                                               \
            unsigned long in = 0x202 | (mask & 1) | (mask & 2) << 1 | (mask & 4) << 2 | (mask & 8) << 3 \
                               | (mask & 16) << 3 | (mask & 32) << 6;                                   \
            unsigned long out;                                                                          \
            __asm__ volatile("sub $256, %%rsp\n push %1\n popfq\n" code "\n pushfq\n pop %0\n add $256, %%rsp" \
                             : "=&r"(out) : "r"(in)                                                     \
                             : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r11", "cc", "memory");        \
            wrong += (out & 0xcd5) != (in & 0xcd5);                                                     \
        }                                                                                               \
        printf("%-14s %d\n", name, wrong);                                                              \
    } while (0)

static void special_flags(void)
{
    unsigned long out;
    // Identification and direction can be set and cleared by popfq. IOPL and IF cannot, silently.
    __asm__ volatile("pushfq\n orq $0x200400, (%%rsp)\n popfq\n pushfq\n pop %0\n cld" : "=r"(out) : : "cc");
    CHECK(out & 0x400);
    printf("id %d\n", (out & 0x200000) != 0);
    __asm__ volatile("pushfq\n andq $~0x200000, (%%rsp)\n popfq\n pushfq\n pop %0" : "=r"(out) : : "cc");
    CHECK(!(out & 0x200000));
    __asm__ volatile("pushfq\n xorq $0x3200, (%%rsp)\n popfq\n pushfq\n pop %0" : "=r"(out) : : "cc");
    CHECK((out & 0x3200) == 0x200);
    __asm__ volatile("clc\n cmc\n setc %b0\n movzbl %b0, %k0" : "=q"(out) : : "cc");
    CHECK(out == 1);
    // 16-bit forms.
    __asm__ volatile("stc\n pushfw\n popw %w0" : "=r"(out) : : "cc");
    CHECK(out & 1);
}

static void syscall_registers(void)
{
    unsigned long rcx, r11, next, before;
    __asm__ volatile("stc\n pushfq\n pop %3\n"
                     "mov $39, %%eax\n"
                     "syscall\n"
                     "1: mov %%rcx, %0\n mov %%r11, %1\n lea 1b(%%rip), %2\n"
                     : "=&r"(rcx), "=&r"(r11), "=&r"(next), "=&r"(before) : : "rax", "rcx", "r11", "cc", "memory");
    CHECK(rcx == next);
    CHECK((r11 & 0xcd5) == (before & 0xcd5));
    puts("syscall leaves rip and flags");
}

int main(void)
{
    KEEPS("nothing", "");
    KEEPS("jmp", "jmp 1f\n 1:");
    KEEPS("indirect jmp", "lea 1f(%%rip), %%rax\n jmp *%%rax\n 1:");
    KEEPS("call and ret", "call 1f\n jmp 2f\n 1: ret\n 2:");
    KEEPS("indirect call", "lea 1f(%%rip), %%rax\n call *%%rax\n jmp 2f\n 1: ret\n 2:");
    KEEPS("loop", "mov $300, %%ecx\n 1: loop 1b");
    KEEPS("jrcxz", "xor %%ecx, %%ecx\n push %1\n popfq\n jrcxz 1f\n ud2\n 1:");
    KEEPS("cpuid", "mov %%rbx, %%rsi\n xor %%eax, %%eax\n push %1\n popfq\n cpuid\n mov %%rsi, %%rbx");
    KEEPS("syscall", "mov $39, %%eax\n syscall");
    KEEPS("mov and lea", "mov $5, %%eax\n lea 1(%%rax), %%ecx\n xchg %%rax, %%rcx\n bswap %%rax\n not %%rax");
    KEEPS("push and pop", "push %%rax\n pop %%rax");
    KEEPS("fs operand", "mov %%fs:0, %%rax");
    KEEPS("rip operand", "mov 1f(%%rip), %%rax\n 1:");
    KEEPS("sse", "pxor %%xmm0, %%xmm0\n addsd %%xmm0, %%xmm0");
    special_flags();
    syscall_registers();
    return 0;
}
