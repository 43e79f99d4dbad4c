// Closures as libffi makes them: a table of code beside a table of data, one entry for each closure.
#include "jit.h"

#define CLOSURES 500
struct closure { long (*function)(struct closure *, long); long bound; };

static long multiply(struct closure *c, long x) { return c->bound * x; }
static long power(struct closure *c, long x)
{
    long result = 1;
    for (long i = 0; i < c->bound % 8; i++) result *= x;
    return result;
}

int main(void)
{
    static struct closure data[CLOSURES];
    // mov %rdi, %rsi; movabs $data, %rdi; movabs $function, %rax; jmp *%rax
    unsigned char *code = pages(CLOSURES * 32, PROT_READ | PROT_WRITE);
    for (int i = 0; i < CLOSURES; i++) {
        unsigned char *at = code + 32 * i;
        data[i] = (struct closure){i % 2 ? multiply : power, i};
        void *pointers[2] = {&data[i], (void *)data[i].function};
        memcpy(at, "\x48\x89\xfe\x48\xbf", 5);
        memcpy(at + 5, &pointers[0], 8);
        memcpy(at + 13, "\x48\xb8", 2);
        memcpy(at + 15, &pointers[1], 8);
        memcpy(at + 23, "\xff\xe0", 2);
    }
    CHECK(mprotect(code, CLOSURES * 32, PROT_READ | PROT_EXEC) == 0);
    long sum = 0;
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < CLOSURES; i++) sum += ((long (*)(long))(uintptr_t)(code + 32 * i))(3);
    printf("%ld\n", sum);
    return 0;
}
