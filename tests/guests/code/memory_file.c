// Code changed through /proc/self/mem, which goes round all protection.
#include "jit.h"
#include <fcntl.h>

__attribute__((noinline)) static int constant(void)
{
    int x;
    __asm__ volatile(".globl the_constant\n the_constant: mov $1234, %0" : "=r"(x));
    return x;
}
extern unsigned char the_constant[];

int main(void)
{
    int fd = open("/proc/self/mem", O_RDWR);
    CHECK(fd >= 0 && constant() == 1234);
    // The immediate is the last four bytes of the instruction, with or without a prefix.
    int offset = the_constant[0] == 0x41 ? 2 : 1;
    for (int i = 0; i < 50; i++) {
        CHECK(pwrite(fd, &i, 4, (off_t)(uintptr_t)(the_constant + offset)) == 4);
        CHECK(constant() == i);
    }
    puts("ok");
    return 0;
}
