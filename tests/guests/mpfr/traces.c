// Floats of which integers make others: what is computed with those is not known in the reals, and counted. Not counted are
// numbers that are made of floats and are none, parts of floats that are numbers of their own, and the next float.
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

volatile double third = 3, tenth = 0.1;

static uint64_t opaque(uint64_t bits)
{
    __asm__ volatile("" : "+r"(bits));
    return bits;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return opaque(bits);
}

static double double_of(uint64_t bits)
{
    double x;
    bits = opaque(bits);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Half of the exponent, and digits that come of it: a first guess, used twice. */
__attribute__((noinline)) double root(double x)
{
    double guess = double_of(opaque(0x5fe6eb50c7b537a9) - (bits_of(x) >> 1));
    return guess * (1.5 - 0.5 * x * (guess * guess));
}

/* The digits in another order. */
__attribute__((noinline)) double mixed(double x)
{
    const uint64_t bits = bits_of(x), low = opaque(0xffffff);
    return double_of((bits & opaque(~low)) | ((bits * opaque(0x9e3779b1)) & low)) - 1;
}

__attribute__((noinline)) int hash(double x)
{
    uint64_t bits = bits_of(x);
    bits = (bits ^ bits >> 33) * opaque(0xff51afd7ed558ccd);
    bits ^= (uint64_t)((unsigned __int128)bits_of(x) * opaque(0x9e3779b97f4a7c15) >> 64);
    return (int)((bits ^ bits >> 33) % 97);
}

__attribute__((noinline)) double rest(double x)
{
    return x - double_of(bits_of(x) & opaque(0xffffffff00000000));
}

__attribute__((noinline)) double spacing(double x) { return double_of(bits_of(x) + opaque(1)) - x; }

/* A product with pi, as processors without floats compute it. */
__attribute__((noinline)) double multiplied(double x)
{
    const uint64_t digits = opaque(0xfffffffffffff), one = opaque(0x10000000000000);
    const unsigned __int128 product = (unsigned __int128)((bits_of(x) & digits) | one) * opaque(0x1921fb54442d18);
    const int shift = (uint64_t)(product >> 105) ? 53 : 52;
    return double_of(((uint64_t)(product >> shift) & digits) | opaque(0x3ff0000000000000)) - 1;
}

/* The words of two vectors, multiplied and added in pairs: once as a float, once as an integer. */
__attribute__((noinline)) double paired(double x)
{
    const __m128i words = _mm_set1_epi64x((long long)bits_of(x));
    const __m128i sums = _mm_madd_epi16(words, _mm_set1_epi16((short)opaque(3)));
    const uint64_t bits = (uint64_t)_mm_cvtsi128_si64(sums) >> 12 | opaque(0x3ff0000000000000);
    const int low = (int)((uint64_t)_mm_cvtsi128_si64(_mm_madd_epi16(sums, words)) & opaque(63));
    return double_of(bits) + low;
}

/* Spelled in hexadecimal, and read back. */
__attribute__((noinline)) double spelled(double x)
{
    const uint64_t bits = bits_of(x);
    volatile char digits[16];
    for (int i = 0; i < 16; i++) {
        const int digit = (int)(bits >> 4 * i & 15);
        digits[i] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
    }
    uint64_t read = 0;
    for (int i = 0; i < 16; i++) {
        const int digit = digits[i] < 'a' ? digits[i] - '0' : digits[i] - 'a' + 10;
        read |= (uint64_t)digit << 4 * i;
    }
    return double_of(read) - 1;
}

int main(void)
{
    for (int i = 1; i <= 4; i++) {
        double x = i / third + tenth;
        printf("%.12g %.12g %d %d\n", root(x), mixed(x), hash(x), rest(x) * 1e9 + spacing(x) > 1);
        printf("%.12g\n", spelled(x));
        printf("%.12g\n", multiplied(x));
        printf("%.12g\n", paired(x));
    }
}
