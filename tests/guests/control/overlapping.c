// The same bytes executed as different instructions, depending on where one jumps in.
#include "guest.h"

long outer_view(void), inner_view(void);

__asm__(".text\n"
        "outer_view:\n"
        "  xor %eax, %eax\n"
        "  .byte 0x48, 0xb9\n"                      // movabs rcx, the eight bytes below
        "inner_view:\n"
        "  .byte 0xb8, 0x05, 0x00, 0x00, 0x00\n"    // mov eax, 5
        "  .byte 0xeb, 0x03, 0x90\n"                // jmp to the ret, over a nop and inc
        "  .byte 0xff, 0xc0\n"                      // inc eax
        "  ret\n");

int main(void)
{
    // Both orders: whichever was translated first must not decide the other.
    long a = outer_view(), b = inner_view(), c = outer_view();
    printf("%ld %ld %ld\n", a, b, c);
    return 0;
}
