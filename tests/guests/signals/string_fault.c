// A string instruction that faults in the middle shows how far it got, and goes on from there.
#include "signals.h"
#include <sys/mman.h>

#define PAGE 4096ul
extern char copy_here[], fill_here[];
static char *from, *to;
static volatile long left[4], ok[4];
static volatile int faults;

static void handler(int s, siginfo_t *info, void *c)
{
    (void)s;
    char *page = (char *)((uintptr_t)info->si_addr & -PAGE);
    left[faults] = REG(c, RCX);
    ok[faults] = REG(c, RIP) == (greg_t)copy_here || REG(c, RIP) == (greg_t)fill_here;
    faults++;
    CHECK(mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0);
}

int main(void)
{
    from = (char *)mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    to = (char *)mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fill_random(from, 4 * PAGE, 8);
    CHECK(mprotect(to + 2 * PAGE, PAGE, PROT_NONE) == 0 && mprotect(from + 3 * PAGE, PAGE, PROT_NONE) == 0);
    on_signal(SIGSEGV, handler, 0);
    void *s = from, *d = to;
    unsigned long n = 4 * PAGE / 8;
    __asm__ volatile(".globl copy_here\n copy_here: rep movsq" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
    CHECK(!memcmp(from, to, 4 * PAGE) && n == 0 && s == from + 4 * PAGE);
    CHECK(mprotect(to + PAGE, PAGE, PROT_READ) == 0);
    d = to, n = 4 * PAGE;
    __asm__ volatile(".globl fill_here\n fill_here: rep stosb" : "+D"(d), "+c"(n) : "a"(9) : "memory");
    CHECK(to[0] == 9 && to[4 * PAGE - 1] == 9);
    for (int i = 0; i < faults; i++) printf("%ld %ld\n", left[i], ok[i]);
    return 0;
}
