// A MAP_GROWSDOWN mapping extends when the page below it is touched.
#include "guest.h"
#include <sys/mman.h>

#define PAGE 4096ul

int main(void)
{
    // Room first, so that nothing else is near: growth stops before the next mapping.
    size_t room = 512 * PAGE;
    char *reserved = (char *)mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(reserved != MAP_FAILED && munmap(reserved, room) == 0);
    char *top = reserved + room - PAGE;
    char *stack = (char *)mmap(top, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(stack == top);
    for (int i = 1; i < 100; i++) {
        stack[-(long)PAGE * i + 100] = (char)i;
        CHECK(stack[-(long)PAGE * i] == 0);
    }
    for (int i = 1; i < 100; i++) CHECK(stack[-(long)PAGE * i + 100] == (char)i);
    puts("grown");
    return 0;
}
