/* Runs vector intrinsics over random operands and prints one hash for each: the native run says what is right. */
#ifndef VECTORS_H
#define VECTORS_H

#include "guest.h"
#include <immintrin.h>

#define SAMPLES 64
static unsigned char samples[3][SAMPLES][64] __attribute__((aligned(64)));

/* Random bytes, and among them numbers that are neither NaN nor tiny, so that arithmetic has something to do. */
static void make_samples(void)
{
    fill_random(samples, sizeof samples, 0x243f6a8885a308d3);
    for (int which = 0; which < 3; which++)
        for (int i = 0; i < SAMPLES; i += 4) {
            double d[8];
            float f[16];
            for (int k = 0; k < 8; k++) d[k] = (samples[which][i][k] - 127) * (k + 1) / 3.0;
            for (int k = 0; k < 16; k++) f[k] = (float)(samples[which][i + 1][k] - 127) / (float)(k + 1);
            memcpy(samples[which][i], d, sizeof d);
            memcpy(samples[which][i + 1], f, sizeof f);
        }
}

#define OPERAND(type, which)  \
    ({                        \
        type value_;          \
        memcpy(&value_, samples[which][i_], sizeof value_); \
        value_;               \
    })

#define REPORT(name, expression)                                 \
    do {                                                         \
        uint64_t hash_ = HASH_START;                             \
        for (int i_ = 0; i_ < SAMPLES; i_++) {                   \
            __auto_type result_ = (expression);                  \
            hash_ = hash_bytes(hash_, &result_, sizeof result_); \
        }                                                        \
        printf("%-28s %016lx\n", name, hash_);                   \
    } while (0)

#define UNARY(type, f) REPORT(#f, f(OPERAND(type, 0)));
#define UNARY_IMM(type, f, imm) REPORT(#f " " #imm, f(OPERAND(type, 0), imm));
#define BINARY(type, f) REPORT(#f, f(OPERAND(type, 0), OPERAND(type, 1)));
#define BINARY_IMM(type, f, imm) REPORT(#f " " #imm, f(OPERAND(type, 0), OPERAND(type, 1), imm));
#define TERNARY(type, f) REPORT(#f, f(OPERAND(type, 0), OPERAND(type, 1), OPERAND(type, 2)));

/* Apply a macro to a type and each of up to 16 names. */
#define EACH(m, t, ...) EACH_(__VA_ARGS__, E16, E15, E14, E13, E12, E11, E10, E9, E8, E7, E6, E5, E4, E3, E2, E1)(m, t, __VA_ARGS__)
#define EACH_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, NAME, ...) NAME
#define E1(m, t, a) m(t, a)
#define E2(m, t, a, ...) m(t, a) E1(m, t, __VA_ARGS__)
#define E3(m, t, a, ...) m(t, a) E2(m, t, __VA_ARGS__)
#define E4(m, t, a, ...) m(t, a) E3(m, t, __VA_ARGS__)
#define E5(m, t, a, ...) m(t, a) E4(m, t, __VA_ARGS__)
#define E6(m, t, a, ...) m(t, a) E5(m, t, __VA_ARGS__)
#define E7(m, t, a, ...) m(t, a) E6(m, t, __VA_ARGS__)
#define E8(m, t, a, ...) m(t, a) E7(m, t, __VA_ARGS__)
#define E9(m, t, a, ...) m(t, a) E8(m, t, __VA_ARGS__)
#define E10(m, t, a, ...) m(t, a) E9(m, t, __VA_ARGS__)
#define E11(m, t, a, ...) m(t, a) E10(m, t, __VA_ARGS__)
#define E12(m, t, a, ...) m(t, a) E11(m, t, __VA_ARGS__)
#define E13(m, t, a, ...) m(t, a) E12(m, t, __VA_ARGS__)
#define E14(m, t, a, ...) m(t, a) E13(m, t, __VA_ARGS__)
#define E15(m, t, a, ...) m(t, a) E14(m, t, __VA_ARGS__)
#define E16(m, t, a, ...) m(t, a) E15(m, t, __VA_ARGS__)

#endif
