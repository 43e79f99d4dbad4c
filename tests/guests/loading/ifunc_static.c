// IRELATIVE relocations in a static program are applied before main, with the CPU's features known.
//@ link: static static-pie
#include "guest.h"

static int generic(void) { return 1; }
static int tuned(void) { return 2; }
static int (*choose(void))(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse2") ? tuned : generic;
}
int work(void) __attribute__((ifunc("choose")));
static int (*volatile pointer)(void) = work;

int main(void)
{
    printf("%d %d %zu\n", work(), pointer(), strlen("through an IFUNC of libc"));
    return 0;
}
