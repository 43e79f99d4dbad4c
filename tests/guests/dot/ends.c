/* Sign and exponent of floats as words in memory of their own: read, changed and put back, changed in place, or set by a function for
 * that purpose alone. */
#include "check.h"

/* Not known to the compiler: each call is one. */
#define KEPT static __attribute__((noinline, noipa))

typedef union {
    long double d;
    struct {
        uint64_t digits;
        uint16_t end;
    } s;
    uint8_t b[10];
} extended;

typedef union {
    double d;
    uint16_t h[4];
    uint8_t b[8];
} parts;

KEPT void add(uint16_t *end, uint16_t by) { *end += by; }
KEPT void turn(uint16_t *end) { *end ^= 0x8000; }
KEPT void set(uint16_t *end, uint16_t to) { *end = to; }
KEPT void set_byte(uint8_t *byte, uint8_t to) { *byte = to; }
KEPT double thrice(const long double *x) { return (double)(*x * 3); }
KEPT double twice(const double *x) { return *x * 2; }

#define EXTENDED(name, change)       \
    KEPT double name(double x)       \
    {                                \
        extended p = {x};            \
        change;                      \
        return (double)(p.d * 3);    \
    }

EXTENDED(put_back, p.s.end += 2)
EXTENDED(lowered, p.s.end = (uint16_t)(p.s.end - 3))
EXTENDED(there_and_back, (p.s.end = (uint16_t)(p.s.end + 17), p.s.end = (uint16_t)(p.s.end - 16)))
EXTENDED(one_to_two, p.s.end = (p.s.end & 0x8000) | 0x3fff)
EXTENDED(positive, p.s.end &= 0x7fff)
EXTENDED(copied, { extended q; memset(&q, 0, sizeof q); q.s.digits = p.s.digits; q.s.end = p.s.end; p = q; })

KEPT double added(double x)
{
    extended p = {x};
    add(&p.s.end, 3);
    add(&p.s.end, 2);
    turn(&p.s.end);
    return thrice(&p.d);
}

KEPT double set_alone(double x)
{
    extended p = {x};
    set(&p.s.end, 0x4001);
    return thrice(&p.d);
}

KEPT double byte_set(double x)
{
    parts p = {x};
    set_byte(&p.b[7], 0x41);
    return twice(&p.d);
}

/* The sign is turned by bytes that are taken apart and joined. */
KEPT double rejoined(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    u = (u & 0x00ffffffffffffff) | (uint64_t)(uint8_t)((u >> 56) + 0x80) << 56;
    memcpy(&x, &u, sizeof x);
    return x * 3;
}

static void checks(void)
{
    for (int i = 0; i < 20; i++) {
        AT("put-back", put_back(x), 12, 1.7, -3.3);
        AT("lowered", lowered(x), 0.375L, 1.7, -3.3);
        AT("there-and-back", there_and_back(x), 6, 1.7, -3.3);
        AT("significand", one_to_two(x), w > 0 ? 3 : 1.5L, 1.7, -3.3);
        AT("positive", positive(x), w > 0 ? 3 : -3, 1.7, -3.3);
        AT("copied", copied(x), 3, 1.7, -3.3);
        AT("added", added(x), -96, 1.7, -3.3);
        AT("set-alone", set_alone(x), 12, 1.7);
        AT("byte-set", byte_set(x), 131072, 2.75);
        AT("rejoined", rejoined(x), -3, 1.7, 5.4, -3.3);
    }
}
