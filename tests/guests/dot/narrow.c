/* Words and bytes of registers that are parts of numbers with derivatives, calculated with as integers, and registers that are shifted
 * into each other: counted, each time. Bytes that are turned around and back are the number that they were. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.7;

#define KEPT __attribute__((noinline, noipa))

typedef union {
    double d;
    uint64_t u;
} wide;

typedef union {
    float f;
    uint32_t u;
} narrow;

/* `code` works on %0, the bits of a number, and on %1, those of another one. */
#define LOST(name, code)                                                          \
    static KEPT double name(double a, double b)                                   \
    {                                                                             \
        wide p = {a}, q = {b};                                                    \
        __asm__ volatile(code : "+r"(p.u), "+r"(q.u) : : "rcx", "cc");            \
        return p.d;                                                               \
    }
#define LOST_NARROW(name, code)                                                   \
    static KEPT double name(double a, double b)                                   \
    {                                                                             \
        narrow p = {(float)a}, q = {(float)b};                                    \
        __asm__ volatile(code : "+r"(p.u), "+r"(q.u) : : "rcx", "cc");            \
        return (double)p.f;                                                       \
    }

LOST(rotated, "rolw $3, %w0")
LOST(rotated_byte, "rorb $3, %b0")
LOST(shifted, "shlw $5, %w0")
LOST(shifted_by_register, "movb $3, %%cl\n\tshrw %%cl, %w0")
LOST(added, "addw $5, %w0")
LOST(added_with_carry, "stc\n\tadcw $5, %w0")
LOST(added_turned, "rolq $16, %0\n\taddw $0x10, %w0\n\trorq $16, %0")
LOST(subtracted, "subb $5, %b0")
LOST(multiplied, "imulw $3, %w0, %w0")
LOST(negated, "negw %w0")
LOST(inverted, "notb %b0")
LOST(flipped, "btcw $3, %w0")
LOST(sum_of_two, "addw %w1, %w0")
LOST(sum_of_bytes, "addb %b1, %b0")
LOST(exchanged_and_added, "xaddw %w1, %w0")
LOST(chosen, "cmpw %w0, %w0\n\tcmovew %w1, %w0")
LOST(exchanged, "xchgw %w1, %w0")
LOST(joined_words, "shldw $5, %w1, %w0")
LOST(joined, "shldq $3, %1, %0")
LOST(joined_bytes, "shldq $8, %1, %0")
LOST(joined_from_above, "shrdq $56, %1, %0")
LOST(joined_by_register, "movb $12, %%cl\n\tshldq %%cl, %1, %0")
LOST_NARROW(rotated_narrow, "rorw $3, %w0")
LOST_NARROW(added_narrow, "addw $0x123, %w0")
LOST_NARROW(sum_of_narrow, "addw %w1, %w0")
LOST_NARROW(joined_narrow, "shldl $16, %1, %0")

#define KEEPS(name, code) static KEPT double name(double a) { wide p = {a}; code; return p.d; }

KEEPS(word_turned, __asm__("rolw $8, %w0\n\trorw $8, %w0" : "+r"(p.u) : : "cc"))
KEEPS(bytes_exchanged, __asm__("xchgb %b0, %h0\n\txchgb %b0, %h0" : "+Q"(p.u)))

/* Shifted by a count that is in a register. */
static KEPT double by_bytes(double a)
{
    wide p = {a};
    volatile uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = p.u >> 8 * i;
    uint64_t again = 0;
    for (int i = 0; i < 8; i++)
        again |= (uint64_t)bytes[i] << 8 * i;
    p.u = again;
    return p.d;
}

/* By masks. */
static KEPT double reversed(double a)
{
    wide p = {a};
    for (int twice = 0; twice < 2; twice++) {
        uint64_t turned = 0;
        for (int i = 0; i < 8; i++)
            turned |= (p.u >> 8 * i & 0xff) << (56 - 8 * i);
        p.u = turned;
    }
    return p.d;
}

/* The exponent on its own. */
static KEPT double exponent(double a)
{
    wide p = {a};
    uint64_t high = p.u >> 48;
    __asm__("shrw $4, %w0" : "+r"(high) : : "cc");
    return (double)(uint32_t)high;
}

int main(void)
{
    double a = 1.1 * x, b = 3.3 * x + 1, sum = 0;
#define FOUR(name) for (int i = 0; i < 4; i++) sum += name(a, b) < 0
    FOUR(rotated); FOUR(rotated_byte); FOUR(shifted); FOUR(shifted_by_register); FOUR(added); FOUR(added_with_carry);
    FOUR(added_turned); FOUR(subtracted); FOUR(multiplied); FOUR(negated); FOUR(inverted); FOUR(flipped);
    FOUR(sum_of_two); FOUR(sum_of_bytes); FOUR(exchanged_and_added); FOUR(chosen); FOUR(exchanged);
    FOUR(joined_words); FOUR(joined); FOUR(joined_bytes); FOUR(joined_from_above); FOUR(joined_by_register);
    FOUR(rotated_narrow); FOUR(added_narrow); FOUR(sum_of_narrow); FOUR(joined_narrow);
    printf("%.17g\n", word_turned(a));
    printf("%.17g\n", bytes_exchanged(a));
    printf("%.17g\n", by_bytes(a));
    printf("%.17g\n", reversed(a));
    printf("%.17g\n", exponent(a));
    return sum < 0;
}
