// Integer instructions that compilers seldom use: rotates through carry, double shifts, bit tests in memory, xlat.
#include "guest.h"

#define RUN(text)                                                                                         \
    do {                                                                                                  \
        uint64_t hash = HASH_START, seed = 88172645463325252;                                             \
        for (int i = 0; i < 200; i++) {                                                                   \
            uint64_t a = next_random(&seed), b = next_random(&seed), c = next_random(&seed) & 63, d = a >> 7, f; \
            __asm__ volatile("bt $5, %0\n" text "\n setc %b4\n movzbl %b4, %k4"                           \
                             : "+a"(a), "+b"(b), "+c"(c), "+d"(d), "=&r"(f) : "r"(table) : "cc", "memory"); \
            uint64_t all[5] = {a, b, c, d, f};                                                            \
            hash = hash_bytes(hash, all, sizeof all);                                                     \
        }                                                                                                 \
        printf("%-32s %016lx\n", text, hash);                                                             \
    } while (0)

int main(void)
{
    static unsigned char table[256];
    fill_random(table, sizeof table, 6);
    RUN("rclq $3, %%rax");
    RUN("rcrb $1, %%bl");
    RUN("shldq $7, %%rax, %%rbx");
    RUN("shrdl $9, %%eax, %%ebx");
    RUN("rolw $5, %%ax");
    RUN("sarq %%cl, %%rax; clc");
    RUN("mulq %%rbx");
    RUN("imulq %%rbx");
    RUN("imulq $-77, %%rax, %%rbx");
    RUN("mov $7, %%ebx; xor %%edx, %%edx; divq %%rbx; clc");
    RUN("mov $-7, %%rbx; cqto; idivq %%rbx; clc");
    RUN("mov $100, %%bl; xor %%ah, %%ah; divb %%bl; clc");
    RUN("cbtw; cwtl; cltq; cwtd; cltd; cqto");
    RUN("bsfq %%rax, %%rbx; bsrq %%rax, %%rcx; clc");
    RUN("btcq %%rcx, %%rax; btrl $3, %%ebx; btsw %%cx, %%dx");
    RUN("xchg %%rbx, %5; movzbl %%al, %%eax; xlatb; xchg %%rbx, %5; clc");
    RUN("movzbl %%ah, %%ecx; movsbw %%bl, %%dx; movslq %%ebx, %%rbx");
    RUN("xchg %%ah, %%bl; add %%ch, %%dl; adc %%ah, %%dh");
    RUN("cmpxchg %%rdx, %%rbx; xadd %%rax, %%rdx");
    RUN("sbb %%rax, %%rax; adc $5, %%rbx");
    RUN("bswap %%rax; bswap %%ebx; clc");
    RUN("btq %%rcx, (%5)");
    return 0;
}
