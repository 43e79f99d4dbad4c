// Functions that have often returned to one place return to another: in a recursion, by hand, past their caller.
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t (*step)(uint64_t);

__attribute__((noinline)) static uint64_t twist(uint64_t x) { return x * 3 ^ x >> 7; }
__attribute__((noinline)) static uint64_t turn(uint64_t x) { return (x << 5 | x >> 59) + 11; }

__attribute__((noinline)) static uint64_t first_caller(step f, uint64_t x) { return f(x) + 1; }
__attribute__((noinline)) static uint64_t second_caller(step f, uint64_t x) { return f(x) * 5; }

__attribute__((noinline)) static uint64_t nested(uint64_t depth, uint64_t x)
{
    if (depth == 0) return twist(x);
    return nested(depth - 1, x + depth) ^ depth;
}

/* Returns to the address in rdi. */
__attribute__((naked, noinline)) static uint64_t return_to(void *address, uint64_t x)
{
    __asm__("pop %rcx\n\tpush %rdi\n\tlea 1(%rsi), %rax\n\tret");
}

static uint64_t to_either(unsigned n, uint64_t x)
{
    uint64_t result;
    __asm__ volatile("lea 1f(%%rip), %%rdi\n\ttest $1, %1\n\tjz 3f\n\tlea 2f(%%rip), %%rdi\n3:\n\tmov %2, %%rsi\n\tsub $128, %%rsp\n\t"
                     "call *%3\n1:\n\tadd $2, %%rax\n2:\n\tadd $4, %%rax\n\tadd $128, %%rsp\n\tmov %%rax, %0"
                     : "=&r"(result)
                     : "r"(n), "r"(x), "r"((uint64_t(*)(void *, uint64_t))return_to)
                     : "rax", "rcx", "rdi", "rsi", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
    return result;
}

static jmp_buf out;

__attribute__((noinline)) static uint64_t may_jump(uint64_t x)
{
    if (x % 64 == 0) longjmp(out, 1);
    return x + 3;
}

int main(void)
{
    volatile step steps[] = {twist, turn};
    uint64_t x = 1;
    for (unsigned i = 0; i < 5000; i++) x = first_caller(steps[i & 1], x);
    for (unsigned i = 0; i < 5000; i++) x = second_caller(steps[i & 1], x);
    for (unsigned i = 0; i < 5000; i++) x = i & 2 ? first_caller(steps[0], x) : second_caller(steps[0], x);
    printf("%llu\n", (unsigned long long)x);
    for (unsigned i = 0; i < 5000; i++) x = nested(i < 2500 ? 0 : i % 9, x);
    printf("%llu\n", (unsigned long long)x);
    for (unsigned i = 0; i < 5000; i++) x = to_either(i < 2500 ? 0 : i, x);
    printf("%llu\n", (unsigned long long)x);
    volatile unsigned jumps = 0;
    volatile uint64_t y = x;
    for (volatile unsigned i = 0; i < 5000; i++) {
        if (setjmp(out)) {
            jumps++;
            y = y * 7 + 1;
        } else {
            y = may_jump(y);
        }
    }
    printf("%llu %u\n", (unsigned long long)y, jumps);
    return 0;
}
