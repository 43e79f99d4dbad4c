// Code that crosses page borders, and code whose last byte is the last of a mapping.
#include "guest.h"
#include <sys/mman.h>

int main(void)
{
    size_t page = 4096;
    unsigned char *base = (unsigned char *)mmap(NULL, 4 * page, PROT_READ | PROT_WRITE | PROT_EXEC,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(base != MAP_FAILED);
    CHECK(munmap(base + 3 * page, page) == 0);
    // mov $imm32, %eax; add %edi, %eax; ret
    static const unsigned char code[] = {0xb8, 0x39, 0x05, 0, 0, 0x01, 0xf8, 0xc3};
    for (size_t shift = 0; shift < sizeof code + 2; shift++) {
        unsigned char *at = base + page - shift;
        memcpy(at, code, sizeof code);
        CHECK(((int (*)(int))at)(4) == 1341);
        memset(at, 0xcc, sizeof code);
    }
    unsigned char *last = base + 3 * page - sizeof code;
    memcpy(last, code, sizeof code);
    CHECK(((int (*)(int))last)(63) == 1400);
    // A loop at the very end whose last instruction jumps back: nothing behind it may be read.
    static const unsigned char loop[] = {0x31, 0xc0, 0xeb, 0x03, 0x90, 0xc3, 0x90, 0x01, 0xf8, 0xff, 0xcf, 0x75, 0xfa, 0xeb, 0xf6};
    memcpy(base + 3 * page - sizeof loop, loop, sizeof loop);
    CHECK(((int (*)(int))(base + 3 * page - sizeof loop))(10) == 55);
    puts("ok");
    return 0;
}
