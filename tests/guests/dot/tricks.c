// Real arithmetic by logical and integer instructions: signs, selections, exponents, rounding by magic numbers.
//@ float and double: the tricks know the layout of the IEEE formats
#include "check.h"
#include <immintrin.h>

#if KIND == 4
typedef uint32_t bits_type;
typedef uint16_t half_type;
enum { SIGNIFICAND = 23, BIAS = 127 };
#else
typedef uint64_t bits_type;
typedef uint32_t half_type;
enum { SIGNIFICAND = 52, BIAS = 1023 };
#endif
#define SIGN ((bits_type)1 << (8 * sizeof(bits_type) - 1))
#define FRACTION (((bits_type)1 << SIGNIFICAND) - 1)

static __attribute__((noinline)) bits_type bits_of(real x)
{
    bits_type bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static __attribute__((noinline)) real real_of(bits_type bits)
{
    real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Each on its own: no compiler joins two of these. */
static __attribute__((noinline)) bits_type flipped(bits_type bits, bits_type by)
{
    __asm__("" : "+r"(bits));
    return bits ^ by;
}

static __attribute__((noinline)) bits_type complement(bits_type bits)
{
    __asm__("not %0" : "+r"(bits));
    return bits;
}

static __attribute__((noinline)) bits_type opposite(bits_type bits)
{
    __asm__("neg %0" : "+r"(bits) : : "cc");
    return bits;
}

static __attribute__((noinline)) bits_type taken_from_zero(bits_type bits)
{
    bits_type zero = 0;
    __asm__("" : "+r"(zero));
    return zero - bits;
}

/* The mask is computed, so that no compiler makes a branch of the selection. */
static real selected(real x, real y, int first)
{
    bits_type mask = (bits_type)0 - (bits_type)(first != 0);
    return real_of((mask & bits_of(x)) | (~mask & bits_of(y)));
}

static real selected_by_xor(real x, real y, int first)
{
    bits_type mask = (bits_type)0 - (bits_type)(first != 0), b = bits_of(y);
    return real_of(b ^ ((b ^ bits_of(x)) & mask));
}

static real scaled(real x, int exponent) { return real_of(bits_of(x) + ((bits_type)exponent << SIGNIFICAND)); }
static real scaled_down(real x, int exponent) { return real_of(bits_of(x) - ((bits_type)exponent << SIGNIFICAND)); }

/* The significand in [1, 2): another exponent is masked in. */
static real mantissa(real x) { return real_of((bits_of(x) & FRACTION) | ((bits_type)BIAS << SIGNIFICAND)); }

static wide significand_scale(wide x)
{
    int exponent;
    frexpl(x, &exponent);
    return ldexpl(1, 1 - exponent) * (x < 0 ? -1 : 1);
}

static int exponent_of(real x) { return (int)((bits_of(x) & ~SIGN) >> SIGNIFICAND) - BIAS; }

/* 2 to a whole number made by integer instructions only, as NumPy's vector exponential does. */
static real power_of_two(int n) { return real_of((bits_type)(n + BIAS) << SIGNIFICAND); }

/* Byte by byte, from a register to memory: those of a derivative, too, of which some are zero. */
static __attribute__((noinline)) real put_by_bytes(real x)
{
    volatile unsigned char bytes[sizeof(real)];
    bits_type bits = bits_of(x);
#define PUT(n) bytes[n] = (unsigned char)(bits >> 8 * (n))
    PUT(0), PUT(1), PUT(2), PUT(3);
#if KIND == 8
    PUT(4), PUT(5), PUT(6), PUT(7);
#endif
    memcpy(&x, (void *)bytes, sizeof x);
    return 2 * x;
}

static __attribute__((noinline)) bits_type joined(half_type high, half_type low)
{
    return (bits_type)high << 8 * sizeof low | low;
}

/* The sign is in the last byte. */
static real turned_in_place(real x)
{
    volatile union { real number; unsigned char bytes[sizeof(real)]; } place;
    place.number = x;
    volatile unsigned char sign = 0x80;
    place.bytes[sizeof x - 1] ^= sign;
    return place.number;
}

static real magic_round(real x)
{
    volatile real magic = (real)3 * (real)((bits_type)1 << (SIGNIFICAND - 1));
    volatile real sum = x + magic;
    return sum - magic;
}

/* As a library rounds the size of a number: there, 2^p is enough. */
static real magic_round_of_size(real x)
{
    volatile real magic = (real)((bits_type)1 << SIGNIFICAND);
    volatile real sum = (x < 0 ? -x : x) + magic;
    return sum - magic;
}

/* No magic: what is lost is lost because the number is large. */
static real absorbed(real x)
{
    volatile real large = (real)5 * (real)((bits_type)1 << SIGNIFICAND);
    volatile real sum = x + large;
    return sum - large;
}

static real large_difference(real x)
{
    const real large = (real)((bits_type)1 << SIGNIFICAND);
    volatile real product = 2 * large * x;
    return product - large;
}

static real reduced_exponential(real x)
{
    const real ln2 = (real)0.69314718055994530941723212145817656807L;
    int n = (int)lrint((double)(x / ln2));
    real r = x - (real)n * ln2, sum = 1;
    for (int i = 20; i > 0; i--) sum = 1 + sum * r / (real)i;
    return scaled(sum, n);
}

static void signs(void)
{
    AT("xor-sign", real_of(bits_of(x) ^ SIGN), -1, 0.75, -2.5);
    AT("and-abs", real_of(bits_of(x) & ~SIGN), w < 0 ? -1 : 1, 0.75, -2.5);
    AT("or-sign", real_of(bits_of(x) | SIGN), w < 0 ? 1 : -1, 0.75, -2.5);
    AT("copied-sign", real_of((bits_of(x) & ~SIGN) | (bits_of(-2) & SIGN)), w < 0 ? 1 : -1, 0.75, -2.5);
    AT("sign-given", real_of((bits_of(3) & ~SIGN) | (bits_of(x) & SIGN)), 0, 0.75, -2.5);
    AT("multiplied-sign", real_of(bits_of(x) ^ (bits_of(-2) & SIGN)), -1, 0.75, -2.5);
    AT("xor-sign-twice", real_of((bits_of(x) ^ SIGN) ^ SIGN), 1, 0.75, -2.5);
    AT("byte-sign", turned_in_place(x), -1, 0.75, -2.5);
    AT("joined", put_by_bytes(x), 2, -2.3, 0.75);
    AT("joined", real_of(joined((half_type)(bits_of(x) >> 8 * sizeof(half_type)), (half_type)bits_of(x))), 1, 0.75, -2.3);
    AT("add-sign", real_of(bits_of(x) + SIGN), -1, 0.75, -2.5);
}

static void selections(void)
{
    AT("mask-first", selected(x, 3, 1), 1, 0.75, -2.5);
    AT("mask-second", selected(3, x, 0), 1, 0.75, -2.5);
    AT("mask-neither", selected(3, x, 1), 0, 0.75, -2.5);
    AT("mask-both", selected(x * x, 2 * x, x > 0), w > 0 ? 2 * w : 2, 0.75, -2.5);
    AT("xor-select", selected_by_xor(x * x, 2 * x, x > 0), w > 0 ? 2 * w : 2, 0.75, -2.5);
    AT("and-zero", real_of(bits_of(x) & 0), 0, 0.75, -2.5);
    AT("and-ones", real_of(bits_of(x) & ~(bits_type)0), 1, 0.75, -2.5);
    AT("or-zero", real_of(bits_of(x) | 0), 1, 0.75, -2.5);
    AT("complement-twice", real_of(complement(complement(bits_of(x)))), 1, 0.75, -2.5);
    AT("complement-but-sign", real_of(flipped(complement(bits_of(x)), ~SIGN)), -1, 0.75, -2.5);
    AT("opposite-twice", real_of(opposite(opposite(bits_of(x)))), 1, 0.75, -2.5);
    AT("opposite-of-difference", real_of(opposite(taken_from_zero(bits_of(x)))), 1, 0.7, -2.3);
}

static void exponents(void)
{
    AT("exponent-add", scaled(x, 5), 32, 0.75, -2.5);
    /* Seen as bytes, 2 and what is added to its exponent have none in common. */
    AT("exponent-of-two", scaled(2 * x, KIND == 4 ? 1 : 3), KIND == 4 ? 4 : 16, 1);
    AT("exponent-subtract", scaled_down(x, 3), 0.125L, 0.75, -2.5);
    AT("significand", mantissa(x), significand_scale(w), 0.75, -2.5, 100);
    AT("significand-of-power^", mantissa(x), significand_scale(w), 4, -0.5);
    AT("exponent-alone", (real)exponent_of(x), 0, 0.75, -2.5, 100);
    AT("ldexp-by-product", x * power_of_two(7), 128, 0.75, -2.5);
    AT("reduced-exponential~16", reduced_exponential(x), W(exp)(w), 0.75, -2.5, 9);
}

static void rounding(void)
{
    AT("magic-round^", magic_round(x), 0, 0.75, -2.3, 100.25);
    AT("magic-remainder^", x - magic_round(x), 1, 0.75, -2.3, 100.25);
    AT("magic-size^", magic_round_of_size(x), 0, 0.75, -2.3, 100.25);
    AT("absorbed^", absorbed(x), 1, 0.75, -2.3, 100.25);
    AT("large-difference", large_difference(x), 2 * ldexpl(1, SIGNIFICAND), 0.8, -2.5);
    AT("magic-times^", x * magic_round(x), rintl(w), 0.75, -2.3, 100.25);
}

static real estimated(real x, int root)
{
    __m128 v = _mm_set_ss((float)x), r = root ? _mm_rsqrt_ss(v) : _mm_rcp_ss(v);
    return (real)_mm_cvtss_f32(r);
}

/* The estimate has 12 bits; its derivative is that of the function it estimates, to as many. */
static void estimates(void)
{
#if KIND == 4
    AT("rcpss~1000^", estimated(x, 0), -1 / (w * w), 0.75, 2.5);
    AT("rsqrtss~1000^", estimated(x, 1), -1 / (2 * w * W(sqrt)(w)), 0.75, 2.5);
    real r;
    AT("rcpss-refined~8", (r = estimated(x, 0), r * (2 - x * r)), -1 / (w * w), 0.75, 2.5);
    AT("rsqrtss-refined~8", (r = estimated(x, 1), r * ((real)1.5 - x * r * r / 2)), -1 / (2 * w * W(sqrt)(w)), 0.75, 2.5);
#else
    (void)estimated;
#endif
}

static void checks(void)
{
    signs();
    selections();
    exponents();
    rounding();
    estimates();
}
