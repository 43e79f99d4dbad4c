// Every condition in its short, near, set and move form, for every combination of flags.
#include "guest.h"

#define CONDITIONS(X) \
    X(o) X(no) X(b) X(ae) X(e) X(ne) X(be) X(a) X(s) X(ns) X(p) X(np) X(l) X(ge) X(le) X(g)

#define DEFINE(cc)                                                              \
    long test_##cc(long flags);                                                 \
    __asm__(".text\n test_" #cc ":\n"                                           \
            " xor %eax, %eax\n xor %edx, %edx\n mov $4, %ecx\n"                 \
            " push %rdi\n popfq\n"                                              \
            " j" #cc " 1f\n"                                                    \
            " jmp 2f\n"                                                         \
            "1: lea 1(%rax), %eax\n"                                            \
            "2: {disp32} j" #cc " 3f\n"                                         \
            " jmp 4f\n"                                                         \
            "3: lea 2(%rax), %eax\n"                                            \
            "4: cmov" #cc " %ecx, %edx\n"                                       \
            " lea (%rax,%rdx), %eax\n"                                          \
            " set" #cc " %dl\n"                                                 \
            " movzbl %dl, %edx\n"                                               \
            " lea (%rax,%rdx,8), %eax\n"                                        \
            " pushfq\n pop %rdx\n xor %rdi, %rdx\n and $0x8d5, %edx\n"          \
            " jz 5f\n ud2\n5: ret\n");
CONDITIONS(DEFINE)

#define ENTRY(cc) test_##cc,
static long (*const tests[])(long) = {CONDITIONS(ENTRY)};

int main(void)
{
    // Carry, parity, adjust, zero, sign, overflow.
    static const long bits[] = {1, 4, 16, 64, 128, 2048};
    for (int which = 0; which < 16; which++) {
        uint64_t taken = 0;
        for (int mask = 0; mask < 64; mask++) {
            long flags = 0x202;
            for (int i = 0; i < 6; i++) flags |= mask >> i & 1 ? bits[i] : 0;
            long result = tests[which](flags);
            CHECK(result == 0 || result == 15);
            taken |= (uint64_t)(result != 0) << mask;
        }
        printf("%2d %016lx\n", which, taken);
    }
    return 0;
}
