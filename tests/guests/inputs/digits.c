// Numbers that the program turns into text itself, from the bits of each, exactly and in as many digits as are asked for. Behind
// each stands its derivative with respect to x, in closed form. With the argument `alike`: two numbers that are one in so few digits;
// with `turned`: a number, and one that was computed from its bits after they were rotated, and rotated back.
#include "shadowgrind.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <math.h>

static double x = 0.7;

/* An integer, in limbs of nine digits, the lowest first. */
enum { LIMBS = 128, LIMB = 1000000000 };
static uint32_t limbs[LIMBS];
static int used;

static void multiply(uint32_t by) {
    uint64_t carry = 0;
    for (int i = 0; i < used; i++) {
        carry += (uint64_t)limbs[i] * by;
        limbs[i] = carry % LIMB;
        carry /= LIMB;
    }
    if (carry) limbs[used++] = carry;
}

/* The digits of m * 2^e, and the place of the point: m * 2^e = 0.d1d2... * 10^point. */
static int digits(uint64_t m, int e, char *to, int *count) {
    int point = 0;
    used = 0;
    for (; m; m /= LIMB) limbs[used++] = m % LIMB;
    for (; e > 0; e--) multiply(2);
    for (; e < 0; e++) { multiply(5); point--; }
    char *all = to;
    for (int i = used - 1; i >= 0; i--)
        for (uint32_t place = LIMB / 10, limb = limbs[i]; place; place /= 10) {
            int digit = limb / place % 10;
            if (digit || all != to) *all++ = digit;
        }
    *count = all - to;
    return point + *count;
}

static char buffer[1 << 13], *end = buffer;

static void put(const char *text) { while (*text) *end++ = *text++; }

/* `v` in `wanted` digits. */
__attribute__((noinline)) static void put_number(double v, int wanted) {
    static char all[2048];
    int e, count;
    uint64_t m;
#ifdef CLASSIFIED
    if (__fpclassify(v) != FP_NORMAL) abort();
#endif
#ifdef HALVES
    union { double v; uint32_t half[2]; } u = { v };
    if (u.half[1] >> 31) *end++ = '-';
    e = u.half[1] >> 20 & 0x7ff;
    uint32_t upper = u.half[1] & 0xfffff, lower = u.half[0];
    m = (uint64_t)upper << 32 | lower;
    m |= 1ull << 52;
    e -= 1075;
#elif defined DOUBLED
    /* As Dragonbox has it: the exponent is taken off by exclusive disjunction, and what is left is added to itself. */
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (bits >> 63) {
        *end++ = '-';
        v = -v;
        memcpy(&bits, &v, sizeof bits);
    }
    e = bits >> 52 & 0x7ff;
    m = bits ^ (uint64_t)e << 52;
    m = (m + m) | 1ull << 53;
    e -= 1076;
#else
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (bits >> 63) *end++ = '-';
    e = bits >> 52 & 0x7ff;
    m = (bits & 0xfffffffffffffull) | 1ull << 52;
    e -= 1075;
#endif
    int point = digits(m, e, all, &count);
    if (count < wanted) memset(all + count, 0, wanted - count);
    if (count > wanted && all[wanted] >= 5) {
        int i = wanted - 1;
        while (i >= 0 && ++all[i] == 10) all[i--] = 0;
        if (i < 0) { memmove(all + 1, all, wanted - 1); all[0] = 1; point++; }
    }
    for (int i = 0; i < wanted; i++) {
        *end++ = '0' + all[i];
        if (i == 0) *end++ = '.';
    }
    point--;
    put(point < 0 ? "e-" : "e+");
    if (point < 0) point = -point;
    *end++ = '0' + point / 10;
    *end++ = '0' + point % 10;
}

static void line(const char *name, double v, int wanted, double derivative) {
    put(name);
    put_number(v, wanted);
    put(" ");
    put_number(derivative, 17);
    put("\n");
}

int main(int argc, char **argv) {
    const double at = x;
    SHADOWGRIND_NAME_INPUT("x", x);
    if (argc > 1 && strcmp(argv[1], "turned") == 0) {
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        volatile uint64_t turned = bits << 3 | bits >> 61;
        bits = turned >> 3 | turned << 61;
        double back;
        memcpy(&back, &bits, sizeof back);
        put_number(x, 17);
        put(" ");
        put_number(back * 3, 17);
        put("\n");
    } else if (argc > 1) {
        put_number(x, 4);
        put(" ");
        put_number(x * 1.00000001, 4);
        put("\n");
    } else {
        double sum = 0, derivative = 0;
        long double same = 0;
        for (int i = 1; i <= 40; i++) {
            sum += sin(x * i) / i;
            same += sinl((long double)at * i) / i;
            derivative += cos(at * i);
            line("step ", sum, 17, derivative);
        }
        line("square = ", sum * sum, 6, 2 * same * derivative);
        line("power ", ldexp(x, -1) / at, 2, 0.5 / at);
        line("root ", -sqrt(sum), 12, -0.5 / sqrtl(same) * derivative);
    }
    return write(1, buffer, end - buffer) < 0;
}
