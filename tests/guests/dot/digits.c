// Digits of floats with derivatives become integers: by a product, by a product of vectors, as the index of a table, by a shift
// of a vector, and in general registers by a shift, of one operand or of two, a mask, a rotation, a narrow product and by the carry flag
// that comes in, a hundred times each.
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.7, constant = 1.7;
/* What is only compared is no gap. */
volatile uint64_t kept;

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    __asm__ volatile("" : "+r"(bits));
    return bits;
}

int main(void)
{
    static int table[256];
    uint64_t sum = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t high = bits_of(x);
        __asm__ volatile("mul %%rdx" : "+a"(high), "+d"(high) : : "cc");
        sum += high;
        __m128i vector = _mm_castpd_si128(_mm_set1_pd(x));
        __asm__ volatile("pmuludq %0, %0" : "+x"(vector));
        sum += (uint64_t)_mm_cvtsi128_si64(vector);
        __m128 narrow = _mm_set1_ps((float)x);
        __asm__ volatile("psrld $13, %0" : "+x"(narrow));
        sum += (uint64_t)_mm_cvtsi128_si64(_mm_castps_si128(narrow));
        uint64_t shifted = bits_of(x), masked = bits_of(x);
        __asm__ volatile("shl $3, %0" : "+r"(shifted) : : "cc");
        __asm__ volatile("and $0x12345, %0" : "+r"(masked) : : "cc");
        uint64_t rotated = bits_of(x), joined = bits_of(x), product = bits_of(x), less = bits_of(x);
        __asm__ volatile("rol $5, %0" : "+r"(rotated) : : "cc");
        __asm__ volatile("shrd $12, %1, %0" : "+r"(joined) : "r"((uint64_t)i) : "cc");
        __asm__ volatile("imul $3, %0, %0" : "+r"(product) : : "cc");
        __asm__ volatile("rcr $1, %0" : "+r"(less) : : "cc");
        sum += shifted + masked + rotated + joined + product + less;
        /* The same number without a derivative leads back to the table. */
        const char *base = (const char *)table - bits_of(constant);
        int found;
        __asm__ volatile("mov (%1,%2), %0" : "=r"(found) : "r"(base), "r"(bits_of(x)));
        sum += (uint64_t)found;
        /* These name memory, and do nothing with it. */
        __asm__ volatile("nopl (%0)\n\tprefetcht0 (%0)" : : "r"(bits_of(x)));
    }
    kept = sum;
    printf("%d %g\n", kept == 0, x * x);
    return 0;
}
