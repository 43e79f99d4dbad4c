// Numbers sorted by their digits, which lose nothing: a place in memory that is made of digits is one of integers, or is written to. A
// number that is found there is another that depends on them.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.3;

enum { COUNT = 32, DIGITS = 256, BITS = 8 };

#define KEPT __attribute__((noinline, noipa))

static uint64_t key(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double number(uint64_t key)
{
    const uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static KEPT void sort(double *values)
{
    uint64_t keys[COUNT], sorted[COUNT];
    for (int n = 0; n < COUNT; n++) keys[n] = key(values[n]);
    for (int shift = 0; shift < 64; shift += BITS) {
        int starts[DIGITS + 1] = { 0 };
        for (int n = 0; n < COUNT; n++) starts[(keys[n] >> shift) % DIGITS + 1]++;
        for (int digit = 0; digit < DIGITS; digit++) starts[digit + 1] += starts[digit];
        for (int n = 0; n < COUNT; n++) sorted[starts[(keys[n] >> shift) % DIGITS]++] = keys[n];
        memcpy(keys, sorted, sizeof keys);
    }
    for (int n = 0; n < COUNT; n++) values[n] = number(keys[n]);
}

/* The digits behind the first, as they are. */
static KEPT double found(const double *table, double value) { return table[(key(value) >> 44) % DIGITS]; }

int main(void)
{
    double values[COUNT], table[DIGITS];
    for (int n = 0; n < COUNT; n++) values[n] = x * ((7 * n + 3) % COUNT - 15.5);
    sort(values);
    for (int n = 0; n < COUNT; n++) printf("%.17g\n", values[n]);
    for (int n = 0; n < DIGITS; n++) table[n] = 1 + n / 256.0;
    printf("%.17g\n", found(table, x)); // FOUND
    return 0;
}
