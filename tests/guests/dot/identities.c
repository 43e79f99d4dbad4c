// Floats as integers and back: what keeps the number keeps its derivative, what masks it away does not, at zero too.
//@ double only: the moves are 64 bits wide
#include "check.h"
#include <immintrin.h>

static __attribute__((noinline)) uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static __attribute__((noinline)) double real_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define EXPONENT ((uint64_t)1 << 52)
#define FRACTION (EXPONENT - 1)

/* `code` works on %0, the bits of the number, and on the constant %1. */
#define INTEGER(name, code)                                                          \
    static double name(double x, uint64_t constant)                                  \
    {                                                                                \
        uint64_t bits = bits_of(x);                                                  \
        __asm__ volatile(code : "+r"(bits) : "r"(constant) : "rax", "rcx", "rdx", "cc", "memory"); \
        return real_of(bits);                                                        \
    }

INTEGER(negated_twice, "negq %0\n\tnegq %0")
INTEGER(added_and_taken, "addq %1, %0\n\tsubq %1, %0")
INTEGER(added_by_address, "leaq (%0,%1), %0\n\tsubq %1, %0")
INTEGER(copied_by_address, "leaq (%0), %%rax\n\txorl %k0, %k0\n\tleaq 0(%%rax), %0")
INTEGER(counted_up, "incq %0\n\tincq %0\n\tdecq %0")
INTEGER(times_one, "imulq $1, %0, %%rax\n\tmovq $1, %0\n\timulq %%rax, %0")
INTEGER(shifted_halves, "movq %0, %%rax\n\tmovq %0, %%rdx\n\tshrq $32, %%rdx\n\tshlq $32, %%rax\n\tshldq $32, %%rax, %%rdx\n\tmovq %%rdx, %0")
INTEGER(exchanged_and_added, "xorl %%eax, %%eax\n\txaddq %%rax, %0\n\txorl %k0, %k0\n\txaddq %0, %%rax\n\tmovq %%rax, %0")
INTEGER(borrowed, "addq %1, %0\n\tclc\n\tsbbq %1, %0\n\tclc\n\tadcq $0, %0")
INTEGER(exponent_added, "addq %1, %0")
INTEGER(exponent_exchanged, "movq %1, %%rax\n\txaddq %%rax, %0")

#if defined __BMI2__
INTEGER(deposited, "movq $-1, %%rax\n\tpdepq %%rax, %0, %%rcx\n\tpextq %%rax, %%rcx, %0")
#else
static double deposited(double x, uint64_t constant) { return (void)constant, x; }
#endif

/* `code` works on the number in memory at (%1), with the constant %0. */
#define MEMORY(name, code)                                                           \
    static double name(double x, uint64_t constant)                                  \
    {                                                                                \
        volatile double place = x;                                                   \
        __asm__ volatile(code : "+r"(constant) : "r"(&place) : "rax", "rcx", "rdx", "cc", "memory"); \
        return place;                                                                \
    }

MEMORY(added_from_memory, "movq %0, %%rax\n\taddq (%1), %%rax\n\tmovq %%rax, (%1)")
MEMORY(added_to_memory, "addq %0, (%1)")
MEMORY(added_to_upper_half, "shrq $32, %0\n\taddl %k0, 4(%1)")
MEMORY(added_to_upper_half_in_register, "shrq $32, %0\n\tmovl 4(%1), %%eax\n\taddl %k0, %%eax\n\tmovl %%eax, 4(%1)")
MEMORY(added_to_last_word, "shrq $48, %0\n\taddw %w0, 6(%1)")
MEMORY(added_to_last_byte, "shrq $56, %0\n\taddb %b0, 7(%1)")
MEMORY(exchanged_in_memory, "movq %0, %%rax\n\tlock xaddq %%rax, (%1)")

static double copied_by_x87(double x)
{
    double result;
    __asm__ volatile("fildll %1\n\tfistpll %0" : "=m"(result) : "m"(x));
    return result;
}

static double truncated_by_x87(double x)
{
    double result;
    __asm__ volatile("fildll %1\n\tfisttpll %0" : "=m"(result) : "m"(x));
    return result;
}

static double copied_narrow(double x)
{
    float from = (float)x, result;
    __asm__ volatile("fildl %1\n\tfistpl %0" : "=m"(result) : "m"(from));
    return result;
}

/* Copying upwards over what is still to be read repeats the first element. */
static double repeated(double x, int bytes)
{
    double a[6] = {x, 1, 2, 3, 4, 5};
    void *from = a, *to = a + 1;
    size_t count = 5;
    if (bytes) {
        count *= 8;
        __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
    } else {
        __asm__ volatile("rep movsq" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
    }
    return a[1] + 2 * a[3] + 4 * a[5];
}

static double repeated_downwards(double x)
{
    double a[6] = {0, 1, 2, 3, 4, x};
    void *from = a + 5, *to = a + 4;
    size_t count = 5;
    __asm__ volatile("std\n\trep movsq\n\tcld" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
    return a[0] + 2 * a[2] + 4 * a[4];
}

static double mantissa(double x) { return real_of((bits_of(x) & FRACTION) | (uint64_t)1023 << 52); }

static double vector_mantissa(double x)
{
    __m128d v = _mm_set1_pd(x), fraction = _mm_set1_pd(real_of(FRACTION));
    return _mm_cvtsd_f64(_mm_or_pd(_mm_and_pd(v, fraction), _mm_set1_pd(1)));
}

static double moved_by_vector(double x, uint64_t constant)
{
    __m128i v = _mm_castpd_si128(_mm_set1_pd(x)), c = _mm_set1_epi64x((long long)constant);
    __asm__ volatile("paddq %1, %0" : "+x"(v) : "x"(c));
    return _mm_cvtsd_f64(_mm_castsi128_pd(v));
}

static double vector_there_and_back(double x, uint64_t constant)
{
    __m128i v = _mm_castpd_si128(_mm_set1_pd(x)), c = _mm_set1_epi64x((long long)constant);
    __asm__ volatile("paddq %1, %0\n\tpsubq %1, %0" : "+x"(v) : "x"(c));
    return _mm_cvtsd_f64(_mm_castsi128_pd(v));
}

/* A selection without a branch; both sides are computed. */
static double selected_by(int kind, double condition, double x, double y)
{
    __m128d mask = _mm_cmplt_sd(_mm_set_sd(condition), _mm_set_sd(1)), a = _mm_set1_pd(x), b = _mm_set1_pd(y);
    __m128i m = _mm_castpd_si128(mask), p = _mm_castpd_si128(a), q = _mm_castpd_si128(b);
    uint64_t bits;
    switch (kind) {
    case 0: __asm__ volatile("andpd %2, %0\n\tandnpd %1, %2\n\torpd %2, %0" : "+x"(a), "+x"(b), "+x"(mask)); return _mm_cvtsd_f64(a);
    case 1: __asm__ volatile("andps %2, %0\n\tandnps %1, %2\n\torps %2, %0" : "+x"(a), "+x"(b), "+x"(mask)); return _mm_cvtsd_f64(a);
    case 2: __asm__ volatile("pand %2, %0\n\tpandn %1, %2\n\tpor %2, %0" : "+x"(p), "+x"(q), "+x"(m)); return _mm_cvtsd_f64(_mm_castsi128_pd(p));
    default:
        bits = (uint64_t)_mm_cvtsi128_si64(m);
        return real_of((bits_of(x) & bits) | (bits_of(y) & ~bits));
    }
}

static void identities(void)
{
    const uint64_t odd = 0x123456789;
    AT("negated-twice", negated_twice(x, odd), 1, 0.75, -2.5, 0);
    AT("added-and-taken", added_and_taken(x, odd), 1, 0.75, -2.3, 0);
    AT("added-by-address", added_by_address(x, odd), 1, 0.75, -2.3);
    AT("copied-by-address", copied_by_address(x, odd), 1, 0.75, -2.3, 0);
    AT("counted-up", counted_up(x, odd), 1, 0.75, -2.3);
    AT("times-one", times_one(x, odd), 1, 0.75, -2.3, 0);
    AT("shifted-halves", shifted_halves(x, odd), 1, 0.75, -2.3);
    AT("exchanged-and-added", exchanged_and_added(x, odd), 1, 0.75, -2.3, 0);
    AT("borrowed", borrowed(x, odd), 1, 0.75, -2.3);
    AT("deposited", deposited(x, odd), 1, 0.75, -2.3, 0);
    AT("moved-by-vector", moved_by_vector(x, odd), 1, 0.75, -2.3);
    AT("vector-there-and-back", vector_there_and_back(x, odd), 1, 0.75, -2.3);
}

static void exponents(void)
{
    const uint64_t three = 3 * EXPONENT, sixteen = 16 * EXPONENT;
    AT("exponent-added", exponent_added(x, three), 8, 0.75, -2.3);
    AT("exponent-exchanged", exponent_exchanged(x, three), 8, 0.75, -2.3);
    AT("exponent-from-memory", added_from_memory(x, three), 8, 0.75, -2.3);
    AT("exponent-to-memory", added_to_memory(x, three), 8, 0.75, -2.3);
    AT("exponent-in-upper-half", added_to_upper_half(x, three), 8, 0.75, -2.3);
    AT("exponent-in-upper-half-register", added_to_upper_half_in_register(x, three), 8, 0.75, -2.3);
    AT("exponent-in-last-word", added_to_last_word(x, three), 8, 0.75, -2.3);
    AT("exponent-in-last-byte", added_to_last_byte(x, sixteen), 65536, 0.75, -2.3);
    AT("exponent-exchanged-in-memory", exchanged_in_memory(x, three), 8, 0.75, -2.3);
    AT("significand^", mantissa(x), 1, 1.0000001, 1.25, 1.7);
    AT("significand-halved^", mantissa(x), 0.5L, 2.0000002, 3.4);
    AT("vector-significand^", vector_mantissa(x), 1, 1.0000001, 1.25, 1.7);
}

static void selections(void)
{
    for (int kind = 0; kind < 4; kind++) {
        AT("selected", selected_by(kind, x, 2 + x, 2 * x), 1, 0.0, 0.5);
        AT("selected-other", selected_by(kind, x + 2, 2 + x, 2 * x), 2, 0.0, 0.5);
        AT("selected-zero", selected_by(kind, x + 2, x, 0), 0, 0.0, 0.5);
        AT("selected-with-constant", selected_by(kind, x + 2, x, 5), 0, 0.0, 0.5);
        AT("selected-itself", selected_by(kind, x, x, 5), 1, 0.0, 0.5);
    }
    AT("size-of-zero", fabs(2 * x + 1), 2, 0.0, 0.5);
    AT("masked-zero", real_of(bits_of(x) & (uint64_t)(x > 5 ? -1 : 0)), 0, 0.0, 0.5);
    AT("sign-of-zero^", real_of((bits_of(3) & ~((uint64_t)1 << 63)) | (bits_of(x) & (uint64_t)1 << 63)), 0, 0.0, 0.5);
}

static void copies(void)
{
    AT("copied-by-x87", copied_by_x87(x), 1, 0.75, -2.5, 0);
    AT("truncated-by-x87", truncated_by_x87(x), 1, 0.75, -2.5, 0);
    AT("copied-narrow~1e8^", copied_narrow(x), 1, 0.75, -2.5, 0);
    AT("repeated-bytes", repeated(x, 1), 7, 0.75, -2.5);
    AT("repeated-words", repeated(x, 0), 7, 0.75, -2.5);
    AT("repeated-downwards", repeated_downwards(x), 7, 0.75, -2.5);
}

static void checks(void)
{
    for (int i = 0; i < 50; i++) {
        identities();
        exponents();
        selections();
        copies();
    }
}
