/* What the guests that make code share: a buffer of pages, and tiny functions as bytes. */
#ifndef JIT_H
#define JIT_H

#include "guest.h"
#include <sys/mman.h>

typedef int (*function)(int);

static inline unsigned char *pages(size_t size, int protection)
{
    void *p = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    return (unsigned char *)p;
}

/* lea imm(%rdi), %eax; ret: adds a constant. */
#define ADD_SIZE 7
static inline void write_add(unsigned char *at, int constant)
{
    static const unsigned char head[] = {0x8d, 0x87};
    memcpy(at, head, 2);
    memcpy(at + 2, &constant, 4);
    at[6] = 0xc3;
}

static inline int call(const void *code, int x) { return ((function)(uintptr_t)code)(x); }

#define RWX (PROT_READ | PROT_WRITE | PROT_EXEC)

#endif
