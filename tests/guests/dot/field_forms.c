// Floats taken apart and put together by each form of instruction that may do so: with an operand in memory, by a count in a
// register, with a result elsewhere, on single bits. Each so often that its code is made anew.
//@ double: the instructions' operands have its width
#include "check.h"

enum { ROUNDS = 99 };
#define SIGN (UINT64_C(1) << 63)
#define ONE UINT64_C(0x3ff0000000000000)
#define FRACTION ((UINT64_C(1) << 52) - 1)

static uint64_t bits_of(real x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static real real_of(uint64_t bits)
{
    real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The float in a register, the other operand in memory. */
#define LOADED(name, instruction)                                                                 \
    static real name(real x, uint64_t other)                                                      \
    {                                                                                             \
        uint64_t bits = bits_of(x);                                                               \
        __asm__ volatile(instruction " %1, %0" : "+r"(bits) : "m"(other) : "cc");                 \
        return real_of(bits);                                                                     \
    }
LOADED(add_loaded, "add")
LOADED(sub_loaded, "sub")
LOADED(and_loaded, "and")
LOADED(or_loaded, "or")
LOADED(xor_loaded, "xor")

/* The float in memory, the other operand in a register that becomes the result. */
#define FLOAT_LOADED(name, instruction)                                                           \
    static real name(real x, uint64_t other)                                                      \
    {                                                                                             \
        volatile real at = x;                                                                     \
        __asm__ volatile(instruction " %1, %0" : "+r"(other) : "m"(at) : "cc");                   \
        return real_of(other);                                                                    \
    }
FLOAT_LOADED(float_added, "add")
FLOAT_LOADED(float_masked, "and")
FLOAT_LOADED(float_joined, "or")
FLOAT_LOADED(float_flipped, "xor")

/* The float in memory, where the result is put. */
#define STORED(name, instruction, constraint)                                                     \
    static real name(real x, uint64_t other)                                                      \
    {                                                                                             \
        volatile real at = x;                                                                     \
        __asm__ volatile(instruction : "+m"(at) : constraint(other) : "cc");                      \
        return at;                                                                                \
    }
STORED(add_stored, "add %1, %0", "r")
STORED(sub_stored, "sub %1, %0", "r")
STORED(and_stored, "and %1, %0", "r")
STORED(or_stored, "or %1, %0", "r")
STORED(xor_stored, "xor %1, %0", "r")
STORED(bit_stored, "btcq $63, %0", "r")

/* One bit of it. */
#define BIT(name, instruction)                                                                    \
    static real name(real x)                                                                      \
    {                                                                                             \
        uint64_t bits = bits_of(x);                                                               \
        __asm__ volatile(instruction " $63, %0" : "+r"(bits) : : "cc");                           \
        return real_of(bits);                                                                     \
    }
BIT(bit_set, "bts")
BIT(bit_cleared, "btr")
BIT(bit_flipped, "btc")

static real masked_otherwise(real x, uint64_t mask)
{
    uint64_t bits = bits_of(x), result;
    __asm__ volatile("andn %1, %2, %0" : "=r"(result) : "r"(bits), "r"(mask) : "cc");
    return real_of(result);
}

static real masked_otherwise_loaded(real x, uint64_t mask)
{
    volatile real at = x;
    uint64_t result;
    __asm__ volatile("andn %1, %2, %0" : "=r"(result) : "m"(at), "r"(mask) : "cc");
    return real_of(result);
}

static real rotated(real x)
{
    uint64_t bits = bits_of(x), half;
    __asm__ volatile("rorx $32, %1, %0" : "=r"(half) : "r"(bits));
    __asm__ volatile("rorx $32, %1, %0" : "=r"(bits) : "r"(half));
    return real_of(bits);
}

/* The exponent and the significand as `frexp` has them, and the float with an exponent one higher. */
#define PARTS(name, exponent_by, fraction_by)                                                     \
    static real name(real x)                                                                      \
    {                                                                                             \
        const uint64_t bits = bits_of(x), count = 52, all = 64 << 8 | 52, low = 52 << 8;          \
        uint64_t exponent = bits, fraction = bits;                                                \
        __asm__ volatile(exponent_by : "+r"(exponent) : "r"(bits), "r"(all), "c"(count) : "cc");  \
        __asm__ volatile(fraction_by : "+r"(fraction) : "r"(bits), "r"(low), "c"(count) : "cc");  \
        return real_of(fraction | (exponent + 1) << 52);                                          \
    }
#define BY_CL "shr %%cl, %0"
#define BY_REGISTER "shrx %3, %1, %0"
#define BY_FIELD "bextr %2, %1, %0"
#define BELOW "bzhi %3, %1, %0"
PARTS(parts_by_cl, BY_CL, BELOW)
PARTS(parts_by_register, BY_REGISTER, BELOW)
PARTS(parts_by_field, BY_FIELD, BY_FIELD)

static wide sign_of(wide w) { return w < 0 ? -1 : 1; }

static wide to_mantissa(wide w) { return ldexpl(1, -ilogbl(w)); }

static real mantissa_loaded(real x)
{
    return or_loaded(and_loaded(x, FRACTION | SIGN), ONE);
}

static real mantissa_float_loaded(real x)
{
    return float_joined(float_masked(x, FRACTION | SIGN), ONE);
}

static real mantissa_otherwise(real x)
{
    return or_stored(masked_otherwise_loaded(x, UINT64_C(2047) << 52), ONE);
}

static void checks(void)
{
    SUM("add_loaded", add_loaded(x, (uint64_t)(i % 5) << 52), 1 << i % 5);
    SUM("sub_loaded", sub_loaded(x, UINT64_C(2) << 52), 0.25L);
    SUM("and_loaded", and_loaded(x, ~SIGN), sign_of(w));
    SUM("or_loaded", or_loaded(x, SIGN), -sign_of(w));
    SUM("xor_loaded", xor_loaded(x, SIGN), -1);
    SUM("mantissa_loaded", mantissa_loaded(x), to_mantissa(w));
    SUM("float_added", float_added(x, UINT64_C(3) << 52), 8);
    SUM("float_flipped", float_flipped(x, SIGN), -1);
    SUM("float_masked", float_masked(x, ~SIGN), sign_of(w));
    SUM("mantissa_float_loaded", mantissa_float_loaded(x), to_mantissa(w));
    SUM("add_stored", add_stored(x, (uint64_t)(i % 5) << 52), 1 << i % 5);
    SUM("sub_stored", sub_stored(x, UINT64_C(2) << 52), 0.25L);
    SUM("and_stored", and_stored(x, ~SIGN), sign_of(w));
    SUM("or_stored", or_stored(x, SIGN), -sign_of(w));
    SUM("xor_stored", xor_stored(x, SIGN), -1);
    SUM("bit_stored", bit_stored(x, 0), -1);
    SUM("bit_set", bit_set(x), -sign_of(w));
    SUM("bit_cleared", bit_cleared(x), sign_of(w));
    SUM("bit_flipped", bit_flipped(x), -1);
    SUM("masked_otherwise", masked_otherwise(x, SIGN), sign_of(w));
    SUM("mantissa_otherwise", mantissa_otherwise(x), to_mantissa(w));
    SUM("rotated", rotated(x), 1);
    SUM("parts_by_cl", parts_by_cl(x), 2);
    SUM("parts_by_register", parts_by_register(x), 2);
    SUM("parts_by_field", parts_by_field(x), 2);
}
