// Bits of active floats in general registers, one trick per run: sign by and, or, xor; exponent by add and by shift; a choice; the
// next float; bytes reversed, or copied one by one; digits that become integers.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double shift = 0;

static uint64_t bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, 8);
    __asm__("" : "+r"(b));
    return b;
}

static double value(uint64_t b)
{
    double x;
    __asm__("" : "+r"(b));
    memcpy(&x, &b, 8);
    return x;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "and";
    long rounds = argc > 2 ? atol(argv[2]) : 1000;
    double x = 0.75 + shift, y = x;
    const uint64_t sign = UINT64_C(1) << 63, one = UINT64_C(1) << 52;
    if (!strcmp(kind, "and"))
        for (long i = 0; i < rounds; i++) y = value(bits(y) & ~sign) * 0.5 - x;
    else if (!strcmp(kind, "or"))
        for (long i = 0; i < rounds; i++) y = value(bits(y) | sign) * 0.5 + x;
    else if (!strcmp(kind, "xor"))
        for (long i = 0; i < rounds; i++) y = value(bits(y) ^ sign) * 0.5 + x;
    else if (!strcmp(kind, "add"))
        for (long i = 0; i < rounds; i++) y = value(bits(y) + one) * 0.125 + x;
    else if (!strcmp(kind, "shift"))
        for (long i = 0; i < rounds; i++) y = value(bits(y) << 1 >> 1) * 0.5 - x;
    else if (!strcmp(kind, "choice"))
        for (long i = 0; i < rounds; i++) {
            uint64_t b = bits(y);
            __asm__("test $1, %2\n\tcmovnz %1, %0" : "+r"(b) : "r"(bits(x)), "r"(i) : "cc");
            y = value(b) * 0.5 + x;
        }
    else if (!strcmp(kind, "next"))
        for (long i = 0; i < rounds; i++) {
            uint64_t b = bits(y);
            __asm__("inc %0" : "+r"(b) : : "cc");
            y = value(b) * 0.5 + x;
        }
    else if (!strcmp(kind, "reversed"))
        for (long i = 0; i < rounds; i++) {
            uint64_t b = bits(y);
            __asm__("bswap %0" : "+r"(b));
            y = value(__builtin_bswap64(bits(value(b)))) * 0.5 + x;
        }
    else if (!strcmp(kind, "bytes"))
        for (long i = 0; i < rounds; i++) {
            volatile double from = y, to = 0;
            volatile unsigned char *in = (volatile unsigned char *)&from, *out = (volatile unsigned char *)&to;
            for (int n = 0; n < 8; n++) out[n] = in[n];
            y = to * 0.5 + x;
        }
    else if (!strcmp(kind, "product")) {
        uint64_t sum = 0;
        for (long i = 0; i < rounds; i++) {
            uint64_t b = bits(x), high = bits(x);
            __asm__("imul $3, %0, %0" : "+r"(b) : : "cc");
            __asm__("mul %%rdx" : "+a"(high), "+d"(sum) : : "cc");
            sum += b;
        }
        y = x + (sum == 0);
    } else
        for (long i = 0; i < rounds; i++) { // frexp and ldexp by hand
            uint64_t b = bits(y), e = b >> 52 & 2047;
            y = value((b & ~(UINT64_C(2047) << 52)) | (e - 1) << 52) + x;
        }
    printf("%.17g\n", y);
    return 0;
}
