// An uncaught SIGFPE ends the program with that wait status; what was written before arrives.
//@ exit: SIGFPE
#include "guest.h"
#include <signal.h>

int main(void)
{
    puts("before");
    fflush(stdout);
    __asm__ volatile("xor %%ecx, %%ecx; xor %%edx, %%edx; div %%ecx" : : : "rax", "rcx", "rdx", "cc");
    puts("after");
    return 0;
}
