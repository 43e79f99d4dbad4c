// String instructions: all sizes, both directions, zero and large counts, repe and repne, overlap.
#include "guest.h"

static unsigned char area[70000], other[70000];

#define RUN(name, setup, code, count)                                                                 \
    do {                                                                                              \
        fill_random(area, sizeof area, 3);                                                            \
        fill_random(other, sizeof other, 4);                                                          \
        void *from = area + 33000, *to = other + 33000;                                               \
        unsigned long counter = (count), a = 0x4142434445464748;                                      \
        __asm__ volatile(setup "\n" code "\n pushfq\n popq %%r8\n cld\n"                               \
                         : "+S"(from), "+D"(to), "+c"(counter), "+a"(a) : : "memory", "cc", "r8");    \
        printf("%-16s %6ld %6ld %6lu %016lx %016lx\n", name, (long)((unsigned char *)from - area),    \
               (long)((unsigned char *)to - other), counter, a, hash_bytes(HASH_START, other, sizeof other)); \
    } while (0)

int main(void)
{
    RUN("rep movsb", "", "rep movsb", 1001);
    RUN("rep movsb 0", "", "rep movsb", 0);
    RUN("rep movsw", "", "rep movsw", 1001);
    RUN("rep movsl back", "std", "rep movsl", 5000);
    RUN("rep movsq", "", "rep movsq", 4000);
    RUN("rep stosb", "", "rep stosb", 30000);
    RUN("rep stosq back", "std", "rep stosq", 4000);
    RUN("rep stosw", "", "rep stosw", 1);
    RUN("repe cmpsb", "mov %%rsi, %%rdi", "repe cmpsb", 3000);
    RUN("repne scasb", "", "repne scasb", 30000);
    RUN("repe scasw", "", "repe scasw", 30);
    RUN("rep lodsq", "", "rep lodsq", 17);
    RUN("movsb", "", "movsb", 5);
    RUN("cmpsl", "", "cmpsl", 5);
    RUN("lodsb stosb", "", "lodsb\n stosb\n lodsw\n stosw\n lodsl\n stosl", 5);
    // Overlap: each byte is the previous one plus what was copied.
    memset(area, 0, sizeof area);
    area[0] = 'x';
    void *from = area, *to = area + 1;
    unsigned long count = 999;
    __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
    CHECK(area[999] == 'x' && area[1000] == 0);
    return 0;
}
