/* Parts of floats overwritten by constants: by stores, masks and moves to parts of registers. What leaves the digits alone scales,
 * what leaves sign and exponent alone rounds, unless no digit is left, and anything else has no derivative. */
#include "check.h"
#include <emmintrin.h>

typedef union {
    double d;
    uint64_t u;
    uint32_t w[2];
    uint16_t h[4];
    uint8_t b[8];
} parts;

typedef union {
    float f;
    uint32_t u;
    uint16_t h[2];
    uint8_t b[4];
} narrow;

/* As fdlibm has it. */
#define LOW(x) *(int *)&x

#define DOUBLE(name, change)                                     \
    static __attribute__((noinline)) double name(double x)       \
    {                                                            \
        parts p = {x};                                           \
        change;                                                  \
        return p.d * 2;                                          \
    }
#define FLOAT(name, change)                                      \
    static __attribute__((noinline)) double name(double x)       \
    {                                                            \
        narrow p = {(float)x};                                   \
        change;                                                  \
        return (double)(p.f * 2);                                \
    }

/* What is used elsewhere is no part of the function that changes it. */
static __attribute__((noinline, noipa)) double twice(double x) { return x * 2; }

static __attribute__((noinline)) double exponent_byte_elsewhere(double x)
{
    volatile parts p = {x};
    p.b[7] = 0x41;
    return twice(p.d);
}

DOUBLE(low_cleared, p.w[0] = 0)
DOUBLE(low_set, p.w[0] = 0x1234567)
DOUBLE(low_masked, p.u &= 0xffffffff00000000)
DOUBLE(short_masked, p.u &= 0xfffffffff8000000)
DOUBLE(last_byte, p.b[0] = 0x21)
DOUBLE(middle_word, p.h[1] = 0x4321)
DOUBLE(middle_byte, p.b[3] = 0x21)
DOUBLE(scaled_by_words, p.w[1] += 3 << 20)
DOUBLE(exponent_byte, p.b[7] = 0x41)
DOUBLE(high_set, p.w[1] = 0x40290000)
DOUBLE(both_set, (p.w[0] = 3, p.w[1] = 0x40290000))
FLOAT(float_low_cleared, p.h[0] = 0)
FLOAT(float_low_masked, p.u &= 0xffff0000)
FLOAT(float_byte, p.b[0] = 1)
FLOAT(float_exponent_byte, p.b[3] = 0x40)
FLOAT(float_high_set, p.h[1] = 0x4040)

DOUBLE(power, p.u &= 0x7ff0000000000000)
FLOAT(float_power, p.u &= 0x7f800000)

static __attribute__((noinline)) double over_power(double x)
{
    parts p = {x};
    p.u &= 0xfff0000000000000;
    return x / p.d;
}

static __attribute__((noinline)) double float_over_power(double x)
{
    narrow p = {(float)x};
    p.u &= 0xff800000;
    return (double)((float)x / p.f);
}

/* As a table is looked up by the first digits: what is left is the number but for a constant. */
static __attribute__((noinline)) double without_first(double x, uint64_t mask)
{
    parts p = {x};
    p.u &= mask;
    return (x - p.d) * 2;
}

static __attribute__((noinline)) double float_without_first(double x, uint32_t mask)
{
    narrow p = {(float)x};
    p.u &= mask;
    return (double)(((float)x - p.f) * 2);
}

/* As vector libraries take logarithms: of a reciprocal that integers round to the last word of a double, and of what is left. */
static __attribute__((noinline)) double log_by_reciprocal(double x)
{
    parts p = {1 / x};
    p.u = (p.u + 0x0000800000000000) & 0xffff000000000000;
    return log1p(x * p.d - 1) - log(p.d);
}

static __m128i word(uint64_t bits) { return _mm_cvtsi64_si128((long long)bits); }
static __m128i bits_of(double x) { return _mm_castpd_si128(_mm_set_sd(x)); }
static double double_of(__m128i bits) { return _mm_cvtsd_f64(_mm_castsi128_pd(bits)); }

/* As logarithms have it: the exponent, rounded at a fraction, is taken off by a sum of narrow lanes. */
static __attribute__((noinline)) double reduced(double x)
{
    __m128i sum = _mm_add_epi32(bits_of(x), word(0xc010100000000000));
    __m128d exponent = _mm_and_pd(_mm_castsi128_pd(sum), _mm_castsi128_pd(word(0xfff0000000000000)));
    return double_of(_mm_sub_epi32(bits_of(x), _mm_castpd_si128(exponent))) * 2;
}

/* Digits and exponent of a double, by a sum of narrow lanes, and twice that: all in one block without optimisation, too. */
static __attribute__((noinline)) double by_narrow_lanes(double x)
{
    __m128i addend = word(0x0010100000000000);
    __asm__("paddd %1, %0; addsd %0, %0" : "+x"(x) : "x"(addend));
    return x;
}

/* The same, used elsewhere: as a result, and from memory after more turns than are looked ahead. */
static __attribute__((noinline, noipa)) double sum_elsewhere(double x)
{
    return double_of(_mm_add_epi32(bits_of(x), word(0x0010100000000000)));
}

static __attribute__((noinline, noipa)) void sums(double x, double *to, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = double_of(_mm_add_epi32(bits_of(x * (1 + i % 4)), word(0x0010100000000000)));
}

static __attribute__((noinline)) double sums_elsewhere(double x)
{
    enum { COUNT = 40 };
    double all[COUNT], total = 0;
    sums(x, all + COUNT - 1, 1);
    sums(x, all, COUNT);
    for (int i = 0; i < COUNT; i++)
        total += all[i];
    return total;
}

static __attribute__((noinline)) double copied_part(double x)
{
    static const uint32_t zero;
    double z = x;
    memcpy(&z, &zero, sizeof zero);
    return z + 1;
}

static __attribute__((noinline)) double split(double x)
{
    double high = x;
    LOW(high) = 0;
    double low = x - high;
    return high * high + low * (x + high);
}

/* Two floats in a word, of which one is set to a constant. */
static __attribute__((noinline)) double one_of_two(double x)
{
    union {
        float f[2];
        uint64_t u;
    } p = {{(float)x, (float)(3 * x)}};
    p.u &= 0xffffffff00000000;
    return (double)(p.f[0] + p.f[1]);
}

static void checks(void)
{
    for (int i = 0; i < 40; i++) {
        AT("low-cleared^", low_cleared(1.1 * x), 2.2L, 1.7, -3.3);
        AT("low-set^", low_set(1.1 * x), 2.2L, 1.7, -3.3);
        AT("low-masked^", low_masked(1.1 * x), 2.2L, 1.7, -3.3);
        AT("short-masked^", short_masked(1.1 * x), 2.2L, 1.7, -3.3);
        AT("last-byte^", last_byte(1.1 * x), 2.2L, 1.7, -3.3);
        AT("middle-word^", middle_word(1.1 * x), 2.2L, 1.7, -3.3);
        AT("middle-byte^", middle_byte(1.1 * x), 2.2L, 1.7, -3.3);
        AT("scaled-by-words", scaled_by_words(1.1 * x), 17.6L, 1.5, -3.1);
        AT("exponent-byte^", exponent_byte(x), 131072, 2.75);
        AT("exponent-byte-elsewhere^", exponent_byte_elsewhere(x), 131072, 2.75);
        AT("high-set^", high_set(1.1 * x), 0, 1.7, -3.3);
        AT("both-set^", both_set(1.1 * x), 0, 1.7, -3.3);
        AT("float-low-cleared~1e8^", float_low_cleared(1.1 * x), 2.2L, 1.7);
        AT("float-low-masked~1e8^", float_low_masked(1.1 * x), 2.2L, 1.7);
        AT("float-byte~1e8^", float_byte(1.1 * x), 2.2L, 1.7);
        AT("float-exponent-byte~1e8^", float_exponent_byte(1.1 * x), 2.2L, 2.7);
        AT("float-high-set^", float_high_set(1.1 * x), 0, 1.7);
        AT("power", power(x), 0, 1.7, -3.3);
        AT("float-power", float_power(x), 0, 1.7);
        AT("over-power", over_power(1.1 * x), 1.1L / (fabsl(w) < 2 ? 1 : -2), 1.7, -3.3);
        AT("float-over-power~1e8^", float_over_power(1.1 * x), 1.1L, 1.7);
        AT("without-first", without_first(1.1 * x, 0xfffe000000000000), 2.2L, 1.7, -3.3);
        AT("without-first-five", without_first(1.1 * x, 0xffff800000000000), 2.2L, 1.7, -3.3);
        AT("float-without-first~1e8^", float_without_first(1.1 * x, 0xffc00000), 2.2L, 1.7, -3.3);
        AT("float-without-first-five~1e8^", float_without_first(1.1 * x, 0xfffc0000), 2.2L, 1.7, -3.3);
        AT("log-by-reciprocal", log_by_reciprocal(1.1 * x), 1 / w, 1.7, 0.3);
        AT("reduced", reduced(1.1 * x), 2.2L / exp2l(floorl(log2l(fabsl(1.1L * w)))), 1.7, 0.3, 248.1);
        AT("by-narrow-lanes", by_narrow_lanes(1.1 * x), 4.4L, 1.7, 3.3);
        AT("sum-elsewhere", twice(sum_elsewhere(1.1 * x)), 4.4L, 1.7, 3.3);
        AT("sums-elsewhere", sums_elsewhere(1.1 * x), 220, 1.7, 3.3);
        AT("copied-part^", copied_part(1.1 * x), 1.1L, 1.7, -3.3);
        AT("split", split(1.1 * x), 2 * 1.21L * w, 1.7, -3.3);
        AT("one-of-two~1e8^", one_of_two(x), 3, 1.7);
    }
}
