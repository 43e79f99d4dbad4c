// A float between 1 and 2 that the program turns into text itself, from the bits of it in an integer of WORD: 1.5 x, of which so much is
// lost that four digits are right, beside another float on the stack. With the argument `zero`: first 1.1 x, as a double, then a zero
// that is 1 in the reals.
#include "shadowgrind.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef WORD
#define WORD uint32_t
#endif

static float x = 1.3071f;
static volatile double y = 1.3071;

/* The text of m / 2^point, which is below 10. */
static void put_fraction(uint64_t m, int point) {
    char text[32], *end = text;
    *end++ = '0' + (m >> point);
    if (m) *end++ = '.';
    for (int n = 0; n < 12 && (m &= (UINT64_C(1) << point) - 1); n++) {
        m *= 10;
        *end++ = '0' + (m >> point);
    }
    *end++ = '\n';
    if (write(1, text, end - text) < 0) _exit(1);
}

/* A float of `digits` digits behind the first, from its bits. */
__attribute__((noinline)) static void put_word(WORD bits, int digits, int bias) {
    WORD fraction = bits & (((WORD)1 << digits) - 1);
    int exponent = bits >> digits;
    put_fraction(exponent || fraction ? fraction | (WORD)1 << digits : 0, exponent ? digits + bias - exponent : 1);
}

__attribute__((noinline)) static void put_double(double v) {
    uint64_t bits, one = 1;
    memcpy(&bits, &v, sizeof bits);
    uint64_t fraction = bits & ((one << 52) - 1);
    int exponent = bits >> 52;
    put_fraction(exponent || fraction ? fraction | one << 52 : 0, exponent ? 52 + 1023 - exponent : 1);
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) {
        put_double(y * 1.1);
        put_double((y / 1.3071 + 1e17) - 1e17);
        return 0;
    }
    SHADOWGRIND_NAME_INPUT("x", x);
    float beside = *(volatile float *)&x, product = beside * 1.5f + 1e4f - 1e4f;
    uint32_t bits;
    memcpy(&bits, &product, sizeof bits);
    put_word(bits, 23, 127);
    return 0;
}
