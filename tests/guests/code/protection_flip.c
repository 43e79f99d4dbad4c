// Write, make executable, run, make writable again: a JIT that keeps W^X, on one page and on many.
#include "jit.h"

int main(void)
{
    size_t page = 4096, count = 32;
    unsigned char *code = pages(count * page, PROT_NONE);
    for (int round = 0; round < 60; round++) {
        CHECK(mprotect(code, count * page, PROT_READ | PROT_WRITE) == 0);
        for (size_t i = 0; i < count; i++) write_add(code + i * page + (size_t)round * 8, round * 100 + (int)i);
        CHECK(mprotect(code, count * page, PROT_READ | PROT_EXEC) == 0);
        for (size_t i = 0; i < count; i++) CHECK(call(code + i * page + (size_t)round * 8, 1) == round * 100 + (int)i + 1);
        // What was made before is still there.
        CHECK(call(code, 1) == 1);
    }
    puts("ok");
    return 0;
}
