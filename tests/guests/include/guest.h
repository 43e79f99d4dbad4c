/* What every guest may use: a check that says where it failed, and a hash for results too long to print. */
#ifndef GUEST_H
#define GUEST_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Usable in signal handlers, in children of vfork and with stdout in any state. */
#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            int error_ = errno;                                                                  \
            fflush(stdout);                                                                      \
            dprintf(2, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #condition, error_); \
            _exit(99);                                                                           \
        }                                                                                        \
    } while (0)

/* The call fails with exactly this errno. */
#define CHECK_ERRNO(call, expected) \
    do {                            \
        errno = 0;                  \
        CHECK((long)(call) == -1);  \
        CHECK(errno == (expected)); \
    } while (0)

/* FNV-1a, chained over calls. */
static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}
#define HASH_START 0xcbf29ce484222325ull

/* The same sequence everywhere: xorshift64. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static inline void fill_random(void *to, size_t size, uint64_t seed)
{
    unsigned char *bytes = (unsigned char *)to;
    for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(next_random(&seed) >> 24);
}

#endif
