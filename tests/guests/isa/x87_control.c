// The x87 control word: precision and rounding control hold over calls, printf and system calls.
#include "guest.h"
#include <sys/syscall.h>

static void set(unsigned short word) { __asm__ volatile("fldcw %0" : : "m"(word)); }
static unsigned short get(void)
{
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
}

int main(void)
{
    volatile long double one = 1, three = 3;
    for (unsigned precision = 0; precision < 4; precision++)
        for (unsigned rounding = 0; rounding < 4; rounding++) {
            unsigned short word = (unsigned short)(0x7f | precision << 8 | rounding << 10);
            if (precision == 1) continue; // reserved
            set(word);
            long double q = one / three, r = -one / three;
            syscall(SYS_getppid);
            CHECK(get() == (word | 0x40));
            long double again = one / three;
            CHECK(again == q);
            set(0x37f);
            printf("%04x %.21Lf %.21Lf\n", word, q, r);
        }
    return 0;
}
