// Conjunctions, disjunctions and exclusive ones of floats in general registers with masks that leave all but the sign, and with
// others; of numbers of all classes, and of two narrow ones at once.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double shift = 0;

/* In a general register, and nothing known of it. */
#define OPAQUE(x) __asm__("" : "+r"(x))

static uint64_t operation(uint64_t b, uint64_t mask, int op) { return op == 0 ? b & mask : op == 1 ? b | mask : b ^ mask; }

static __attribute__((noinline)) double of_double(double x, uint64_t mask, int op)
{
    uint64_t b;
    memcpy(&b, &x, 8);
    OPAQUE(b);
    if (op == 0) b &= mask;
    else if (op == 1) b |= mask;
    else b ^= mask;
    OPAQUE(b);
    memcpy(&x, &b, 8);
    return x;
}

static __attribute__((noinline)) float of_float(float x, uint32_t mask, int op)
{
    uint32_t b;
    memcpy(&b, &x, 4);
    OPAQUE(b);
    if (op == 0) b &= mask;
    else if (op == 1) b |= mask;
    else b ^= mask;
    OPAQUE(b);
    memcpy(&x, &b, 4);
    return x;
}

/* The masks that leave all but the sign, as parts of instructions. */
static __attribute__((noinline)) float by_constant(float x, int op)
{
    uint32_t b;
    memcpy(&b, &x, 4);
    OPAQUE(b);
    if (op == 0) b &= 0x7fffffff;
    else if (op == 1) b |= 0x80000000;
    else b ^= 0x80000000;
    OPAQUE(b);
    memcpy(&x, &b, 4);
    return x;
}

static void of_two(float x, uint64_t mask, int op)
{
    float two[2] = { x, 2 * x };
    uint64_t b;
    memcpy(&b, two, 8);
    OPAQUE(b);
    b = operation(b, mask, op);
    OPAQUE(b);
    memcpy(two, &b, 8);
    printf("%.9g %.9g\n", two[0], two[1]);
}

int main(void)
{
    static const double numbers[] = { 1.5, -2.25, 0, INFINITY, -INFINITY, NAN, 5e-324, -1e-310, 1e300 };
    static const uint64_t masks[] = {
        INT64_MAX, UINT64_C(1) << 63, 0xffffffff00000000, 0x7fffffff00000000, 0x8000000080000000, 0x7fffffff7fffffff, 0,
        UINT64_MAX, 0xfff0000000000000, 0x000fffffffffffff, 0x0010000000000000,
    };
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (unsigned m = 0; m < sizeof masks / sizeof masks[0]; m++)
            for (int op = 0; op < 3; op++) {
                const double x = numbers[i] + shift;
                const float y = (float)x;
                printf("%.17g %.17g\n", of_double(x, masks[m], op), of_double(-x, masks[m], op));
                // A derivative that is subnormal.
                printf("%.17g\n", of_double(x * -1e-310, masks[m], op));
                printf("%.9g %.9g\n", of_float(y, (uint32_t)masks[m], op), of_float(y, masks[m] >> 32, op));
                printf("%.9g\n", by_constant(y, op));
                of_two(y, masks[m], op);
            }
    return 0;
}
