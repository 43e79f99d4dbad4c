// Code on the stack, on the heap, in .bss and in .data, made executable by mprotect.
#include "jit.h"

static unsigned char in_bss[8192] __attribute__((aligned(4096)));
static unsigned char in_data[8192] __attribute__((aligned(4096))) = {1};

static void run_at(const char *where, unsigned char *place)
{
    unsigned char *page = (unsigned char *)((uintptr_t)place & ~4095ul);
    CHECK(mprotect(page, 8192, RWX) == 0);
    for (int i = 0; i < 50; i++) {
        write_add(place, i);
        CHECK(call(place, 100) == 100 + i);
    }
    puts(where);
}

int main(void)
{
    unsigned char on_stack[8192];
    unsigned char *heap = (unsigned char *)malloc(16384);
    run_at("stack", on_stack + 100);
    run_at("heap", heap + 5000);
    run_at("bss", in_bss + 10);
    run_at("data", in_data + 10);
    memset(heap, 0, 16384);
    free(heap);
    return 0;
}
