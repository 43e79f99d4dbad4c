// MAP_32BIT gives addresses below 2 GB, as often as asked.
#include "guest.h"
#include <sys/mman.h>

int main(void)
{
    for (int i = 0; i < 200; i++) {
        char *p = (char *)mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
        CHECK(p != MAP_FAILED && (uintptr_t)p + 65536 <= 1ul << 31);
        p[0] = p[65535] = (char)i;
        if (i % 3 == 0) CHECK(munmap(p, 65536) == 0);
    }
    char *code = (char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    CHECK(code != MAP_FAILED && (uintptr_t)code < 1ul << 31);
    memcpy(code, "\x8d\x47\x07\xc3", 4); // lea 7(%rdi), %eax; ret
    printf("%d\n", ((int (*)(int))code)(35));
    return 0;
}
