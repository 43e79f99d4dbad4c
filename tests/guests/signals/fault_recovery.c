// Faults that the program repairs: mprotect in the handler and again, skipping the instruction, a growing array.
#include "signals.h"
#include <sys/mman.h>

#define PAGE 4096ul
static char *area;
static volatile int faults;
extern char skip_from[], skip_to[];

static void handler(int s, siginfo_t *info, void *c)
{
    (void)s;
    faults++;
    char *at = (char *)info->si_addr;
    if (at >= area && at < area + 512 * PAGE)
        CHECK(mprotect((char *)((uintptr_t)at & -PAGE), PAGE, PROT_READ | PROT_WRITE) == 0);
    else if (REG(c, RIP) == (greg_t)skip_from)
        REG(c, RIP) = (greg_t)skip_to;
    else
        CHECK(!"known fault");
}

__attribute__((noinline)) static long skip(long value)
{
    __asm__ volatile(".globl skip_from, skip_to\n skip_from: mov 16, %0\n skip_to: add $1, %0" : "+r"(value));
    return value;
}

int main(void)
{
    on_signal(SIGSEGV, handler, 0);
    area = (char *)mmap(NULL, 512 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // A write barrier as garbage collectors have it, in vector code and across pages too.
    for (int i = 0; i < 100; i++) area[(unsigned long)i * PAGE + 7] = (char)i;
    memset(area + 100 * PAGE + 50, 3, 20 * PAGE);
    double *numbers = (double *)(area + 200 * PAGE);
    for (int i = 0; i < 20000; i++) numbers[i] = i * 0.5;
    *(uint64_t *)(area + 300 * PAGE - 3) = 0x0102030405060708;
    void *from = numbers, *to = area + 400 * PAGE + 9;
    unsigned long count = 5 * PAGE;
    __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
    printf("%d %d %g\n", faults, area[50 * PAGE + 7], numbers[19999]);
    CHECK(!memcmp(area + 400 * PAGE + 9, numbers, 5 * PAGE));
    for (int i = 0; i < 1000; i++) CHECK(skip(5) == 6);
    printf("%d\n", faults);
    return 0;
}
