// Absolute addresses: tables of pointers in data, 64-bit immediates, addresses as 32-bit constants.
//@ link: nopie static
//@ flags: -mcmodel=medium
#include "guest.h"

static int one(int x) { return x + 1; }
static int two(int x) { return x * 2; }
static int three(int x) { return x - 3; }
static int (*const table[])(int) = {one, two, three};
static int numbers[] = {10, 20, 30};
static int *const pointers[] = {&numbers[2], &numbers[0], &numbers[1]};
static char large[200000];

__asm__(".text\n"
        ".globl by_absolute\n"
        "by_absolute:\n"
        "  mov $target, %eax\n"          // a 32-bit address as an immediate
        "  movabs $target, %rcx\n"
        "  cmp %rax, %rcx\n"
        "  jne 1f\n"
        "  mov value, %eax\n"            // disp32 without a base
        "  movabs value, %eax\n"         // moffs64
        "  jmp *%rcx\n"
        "1: mov $-1, %eax\n"
        "  ret\n"
        "target: add $1, %eax\n"
        "  ret\n"
        ".data\n"
        "value: .long 1233\n"
        ".text\n");
int by_absolute(void);

int main(void)
{
    int x = 5;
    for (int i = 0; i < 30; i++) x = table[i % 3](x) + *pointers[(i + 1) % 3];
    memset(large, 1, sizeof large);
    printf("%d %d %d\n", x, by_absolute(), large[199999]);
    return 0;
}
