// loop, loope, loopne, jrcxz and their 32-bit forms: counters at their edges, flags untouched.
#include "guest.h"

#define FUNCTION(name, ...) \
    long name(long, long);  \
    __asm__(".text\n" #name ":\n" __VA_ARGS__)

FUNCTION(plain_loop, "mov %rdi, %rcx\n xor %eax, %eax\n 1: inc %rax\n loop 1b\n ret\n");
FUNCTION(short_counter, "mov %rdi, %rcx\n xor %eax, %eax\n 1: inc %rax\n addr32 loop 1b\n mov %rcx, %rdx\n ret\n");
FUNCTION(while_equal, "mov %rdi, %rcx\n xor %eax, %eax\n 1: inc %rax\n cmp %rsi, %rsi\n cmp $5, %rax\n"
                      " setne %dl\n test $0, %dl\n loope 1b\n mov %rcx, %rax\n ret\n");
FUNCTION(while_unequal, "mov %rdi, %rcx\n xor %eax, %eax\n 1: inc %rax\n cmp %rsi, %rax\n loopne 1b\n"
                        " shl $32, %rax\n or %rcx, %rax\n ret\n");
FUNCTION(zero_counter, "mov %rdi, %rcx\n mov $1, %eax\n jrcxz 1f\n mov $2, %eax\n 1: ret\n");
FUNCTION(zero_counter_32, "mov %rdi, %rcx\n mov $1, %eax\n jecxz 1f\n mov $2, %eax\n 1: ret\n");
// All six flags set or cleared before, read after.
FUNCTION(flags_kept, "mov %rdi, %rax\n sahf\n mov $3, %ecx\n 1: loop 1b\n jrcxz 2f\n ud2\n 2: lahf\n"
                     " movzbl %ah, %eax\n ret\n");
FUNCTION(no_iteration, "mov $1, %ecx\n xor %eax, %eax\n 1: inc %rax\n loop 1b\n ret\n");

int main(void)
{
    printf("%ld %ld %ld\n", plain_loop(1, 0), plain_loop(1000, 0), no_iteration(0, 0));
    printf("%ld %ld\n", short_counter(0x700000003, 0), short_counter(5, 0));
    printf("%ld %lx %lx\n", while_equal(10, 1), while_unequal(100, 7), while_unequal(3, 7));
    printf("%ld %ld %ld\n", zero_counter(0, 0), zero_counter(1, 0), zero_counter(1l << 32, 0));
    printf("%ld %ld %ld\n", zero_counter_32(0, 0), zero_counter_32(1, 0), zero_counter_32(1l << 32, 0));
    // lahf reads bit 1 as set, bits 3 and 5 as clear.
    for (long flags = 0; flags < 256; flags++) CHECK(flags_kept(flags << 8, 0) == ((flags & 0xd5) | 2));
    puts("flags kept");
    return 0;
}
