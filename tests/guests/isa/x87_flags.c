// x87 exception flags: set, sticky, cleared, and kept while other things happen.
#include "guest.h"
#include <sys/syscall.h>

static unsigned short status(void)
{
    unsigned short word;
    __asm__ volatile("fnstsw %0" : "=a"(word));
    return word & 0xff;
}

#define TRY(name, code)                                      \
    do {                                                     \
        __asm__ volatile("fninit\n" code : : "m"(numbers) : "st"); \
        syscall(SYS_getppid);                                \
        printf("%-10s %02x\n", name, status());              \
        __asm__ volatile("fnclex");                          \
        CHECK(status() == 0);                                \
        __asm__ volatile("fninit");                          \
    } while (0)

int main(void)
{
    static const double numbers[4] = {1e308, 3.0, 5e-324, 0.0};
    TRY("nothing", "fld1\n fld1\n faddp\n fstp %%st");
    TRY("inexact", "fld1\n fdivl 8+%0\n fstp %%st");
    TRY("zero", "fld1\n fdivl 24+%0\n fstp %%st");
    TRY("invalid", "fldz\n fdivl 24+%0\n fstp %%st");
    TRY("denormal", "fldl 16+%0\n fstp %%st");
    TRY("overflow", "fldl %0\n fmull %0\n fstpl -8(%%rsp)\n");
    TRY("underflow", "fldl 16+%0\n fdivl 8+%0\n fstpl -8(%%rsp)\n");
    TRY("stack", "fstp %%st");
    return 0;
}
