/* Parts of floats overwritten by one function and used by another: what becomes of the whole is not seen where it is changed. Digits
 * round, sign and exponent scale, all parts together make another float, and parts that are moved on their own arrive as they were. */
#include "check.h"

/* Not known to the compiler: each call is one. */
#define KEPT static __attribute__((noinline, noipa))

typedef union {
    double d;
    uint32_t w[2];
    uint16_t h[4];
    uint8_t b[8];
} parts;

typedef union {
    long double d;
    struct {
        uint64_t digits;
        uint16_t end;
    } x;
    uint8_t b[10];
} wider;

KEPT int high(const double *x) { return ((const int *)x)[1]; }
KEPT void set_high(double *x, int to) { ((int *)x)[1] = to; }
KEPT void set_low(double *x, int to) { ((int *)x)[0] = to; }
KEPT void copy_low(double *x, const int *from) { memcpy(x, from, sizeof *from); }
KEPT void set_bytes(double *x, const uint8_t *from, int count)
{
    for (int i = 0; i < count; i++) ((uint8_t *)x)[i] = from[i];
}
KEPT void copy_bytes(double *to, const double *from)
{
    for (int i = 0; i < 8; i++) ((parts *)to)->b[i] = ((const parts *)from)->b[i];
}
KEPT void copy_words(double *to, const double *from)
{
    for (int i = 0; i < 4; i++) ((parts *)to)->h[i] = ((const parts *)from)->h[i];
}
KEPT void copy_halves(double *to, const double *from)
{
    for (int i = 0; i < 2; i++) ((parts *)to)->w[i] = ((const parts *)from)->w[i];
}
KEPT double inserted(double x)
{
    __asm__("movl $0x1234, %%eax\n\tpinsrw $0, %%eax, %0" : "+x"(x) : : "eax");
    return x;
}
KEPT double cleared(double x)
{
    __asm__("movq %0, %%rax\n\txorw %%ax, %%ax\n\torq $0x26b6, %%rax\n\tmovq %%rax, %0" : "+x"(x) : : "rax");
    return x;
}
KEPT double masked(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~(uint64_t)0xffffff;
    memcpy(&x, &bits, sizeof bits);
    return x;
}
KEPT double filled(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits & ~(uint64_t)0xffffffffff) | 0x123456789a;
    memcpy(&x, &bits, sizeof bits);
    return x;
}
/* Joined by exclusive disjunction, as clang does: sign, exponent and digits are what the constant has. */
KEPT double flipped(double x, uint64_t kept, uint64_t by)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits & kept) ^ by;
    memcpy(&x, &bits, sizeof bits);
    return x;
}
KEPT void set_end(long double *x, int to) { ((wider *)x)->x.end = (((wider *)x)->x.end & 0x8000) | to; }
static double scaled_high(double x)
{
    set_high(&x, high(&x) + (3 << 20));
    return x * 2;
}
static double low_set(double x)
{
    set_low(&x, 0x1234567);
    return x * 2;
}
static double low_copied(double x)
{
    static const int zero;
    copy_low(&x, &zero);
    return x * 2;
}
/* Taken apart again before it is used. */
KEPT double halves_joined(const double *x)
{
    const volatile uint32_t *from = (const volatile uint32_t *)x;
    volatile parts to;
    to.w[1] = from[1] + (1 << 20);
    to.w[0] = from[0];
    return to.d;
}
KEPT double halves_shifted(const double *x)
{
    const volatile uint32_t *from = (const volatile uint32_t *)x;
    uint64_t high = from[1] + (1 << 20), low = from[0];
    __asm__("" : "+r"(high), "+r"(low));
    const uint64_t bits = high << 32 | low;
    double to;
    memcpy(&to, &bits, sizeof to);
    return to;
}
static double low_joined(double x)
{
    set_low(&x, 0x1234567);
    return halves_joined(&x);
}
static double low_shifted(double x)
{
    set_low(&x, 0);
    return halves_shifted(&x);
}
/* The digits that were there are put back, and are taken off the same number. */
static double low_put_back(double x)
{
    double again = x;
    copy_low(&again, (const int *)&x);
    double sum = again;
    again = x;
    set_low(&again, 0);
    sum += again;
    copy_low(&again, (const int *)&x);
    return sum + again;
}
static double low_bytes(double x)
{
    set_bytes(&x, (const uint8_t[]){1, 2, 3, 4, 5}, 5);
    return x * 2;
}
static double high_then_low(double x)
{
    set_high(&x, high(&x) + (3 << 20));
    set_low(&x, 0x1234567);
    return x * 2;
}
static double all_bytes(double x)
{
    double other = 2.7, old = x;
    set_bytes(&x, (const uint8_t *)&other, 8);
    return x * 2 + old;
}
static double both_halves(double x)
{
    double old = x;
    set_low(&x, 5);
    set_high(&x, 0x40290000);
    return x * 2 + old;
}
#define COPIED(how)                           \
    static double how##_over(double x)        \
    {                                         \
        double to = 3;                        \
        copy_##how(&to, &x);                  \
        return to * 2;                        \
    }                                         \
    static double how##_over_active(double x) \
    {                                         \
        double to = 3 * x;                    \
        copy_##how(&to, &x);                  \
        return to * 2;                        \
    }
COPIED(bytes)
COPIED(words)
COPIED(halves)

static double wide_end(double x)
{
    long double wide = x;
    set_end(&wide, 0x4002);
    return (double)(wide * 2);
}
static double moved_wide(double x)
{
    wider from = {x}, to;
    to.x.digits = from.x.digits;
    to.x.end = from.x.end + 5;
    return (double)to.d;
}
static double flipped_end(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits & 0x800fffffffffffff) ^ 0xbff0000000000000;
    memcpy(&x, &bits, sizeof bits);
    return x * 2;
}
static void checks(void)
{
    for (int i = 0; i < 3; i++) {
        AT("scaled-high", scaled_high(x), 16, 1.7, -3.3);
        AT("scaled-high", scaled_high(1.1 * x), 17.6L, 1.7, -3.3);
        AT("low-set^", low_set(1.1 * x), 2.2L, 1.7, -3.3);
        AT("low-copied^", low_copied(1.1 * x), 2.2L, 1.7, -3.3);
        AT("low-joined^", low_joined(1.1 * x), 2.2L, 1.7, -3.3);
        AT("low-shifted^", low_shifted(1.1 * x), 2.2L, 1.7, -3.3);
        AT("low-put-back^", low_put_back(1.1 * x), 3.3L, 1.7, -3.3);
        AT("low-bytes^", low_bytes(1.1 * x), 2.2L, 1.7, -3.3);
        AT("all-bytes", all_bytes(1.1 * x), 1.1L, 1.7, -3.3);
        AT("both-halves", both_halves(1.1 * x), 1.1L, 1.7, -3.3);
        AT("bytes-over", bytes_over(x), 2, 1.7, -3.3);
        AT("bytes-over", bytes_over(1.1 * x), 2.2L, 1.7, -3.3);
        AT("bytes-over-active", bytes_over_active(1.1 * x), 2.2L, 1.7, -3.3);
        AT("words-over", words_over(x), 2, 1.7, -3.3);
        AT("words-over", words_over(1.1 * x), 2.2L, 1.7, -3.3);
        AT("words-over-active", words_over_active(1.1 * x), 2.2L, 1.7, -3.3);
        AT("halves-over", halves_over(x), 2, 1.7, -3.3);
        AT("halves-over", halves_over(1.1 * x), 2.2L, 1.7, -3.3);
        AT("halves-over-active", halves_over_active(1.1 * x), 2.2L, 1.7, -3.3);
        AT("inserted^", inserted(1.1 * x) * 2, 2.2L, 1.7, -3.3);
        AT("cleared^", cleared(1.1 * x) * 2, 2.2L, 1.7, -3.3);
        AT("masked^", masked(1.1 * x) * 2, 2.2L, 1.7, -3.3);
        AT("filled^", filled(1.1 * x) * 2, 2.2L, 1.7, -3.3);
        AT("high-then-low^", high_then_low(1.1 * x), 17.6L, 1.7, -3.3);
        AT("flipped^", flipped(1.1 * x, ~(uint64_t)0xffffffffff, 0x800000a0f15bb1c3) * 2, -2.2L, 1.7, -3.3);
        AT("flipped-end", flipped_end(1.1 * x), w > 0 ? -2.2L : -1.1L, 1.7, -3.3);
        AT("moved-wide", moved_wide(1.1 * x), 35.2L, 1.7, -3.3);
        AT("wide-end^", wide_end(1.1 * x), 17.6L, 1.7);
    }
}
