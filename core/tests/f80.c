/* Converts floats as the processor does, one line of hexadecimal bits in, one out: the peer of `format.rs`.
 *
 *     in:  "e SIGN_AND_EXPONENT SIGNIFICAND" for an 80-bit float, "d BITS" for a double, "f BITS" for a float
 *     out: the double and the float made of the first, the 80-bit float made of the others
 *
 * Deliberately uses plain casts: the compiler has nothing but fld and fstp for them. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void print_f80(long double x) {
    unsigned char image[16] = {0};
    uint64_t significand;
    uint16_t top;
    memcpy(image, &x, 10);
    memcpy(&significand, image, 8);
    memcpy(&top, image + 8, 2);
    printf("%04x%016llx\n", top, (unsigned long long)significand);
}

static void narrow(uint16_t top, uint64_t significand) {
    volatile long double x = 0;
    double d;
    float f;
    uint64_t d_bits;
    uint32_t f_bits;
    memcpy((void *)&x, &significand, 8);
    memcpy((char *)&x + 8, &top, 2);
    d = (double)x;
    f = (float)x;
    memcpy(&d_bits, &d, 8);
    memcpy(&f_bits, &f, 4);
    printf("%016llx %08x\n", (unsigned long long)d_bits, f_bits);
}

int main(void) {
    char kind;
    unsigned long long a, b;
    while (scanf(" %c %llx", &kind, &a) == 2) {
        if (kind == 'e') {
            if (scanf("%llx", &b) != 1) return 1;
            narrow((uint16_t)a, b);
        } else if (kind == 'd') {
            uint64_t bits = a;
            volatile double x;
            memcpy((void *)&x, &bits, 8);
            print_f80(x);
        } else {
            uint32_t bits = (uint32_t)a;
            volatile float x;
            memcpy((void *)&x, &bits, 4);
            print_f80(x);
        }
    }
    return 0;
}
