// Doubles are asked whether they are infinite, several at once, as numpy does: their digits are shifted and compared, and none is lost.
// And for their exponents, as SLEEF does for logarithms: upper halves come beside each other, and digits are shifted away.
#include <immintrin.h>
#include <stdio.h>

double x = 0.7;

enum { COUNT = 64 };

__attribute__((noinline)) static int infinite(const double *numbers) {
    const __m128i infinity = _mm_set1_epi64x(0x7ffLL << 53);
    __m128i found = _mm_setzero_si128();
    for (int i = 0; i < COUNT; i += 4) {
        __m128i a = _mm_slli_epi64(_mm_loadu_si128((const __m128i *)(numbers + i)), 1);
        __m128i b = _mm_slli_epi64(_mm_loadu_si128((const __m128i *)(numbers + i + 2)), 1);
        found = _mm_sub_epi32(found, _mm_packs_epi32(_mm_cmpeq_epi64(a, infinity), _mm_cmpeq_epi64(b, infinity)));
    }
    return _mm_movemask_epi8(_mm_cmpgt_epi32(found, _mm_setzero_si128()));
}

__attribute__((noinline)) static int exponents(const double *numbers) {
    __m128i sum = _mm_setzero_si128();
    for (int i = 0; i < COUNT; i += 4) {
        const __m128 a = _mm_castpd_ps(_mm_loadu_pd(numbers + i)), b = _mm_castpd_ps(_mm_loadu_pd(numbers + i + 2));
        const __m128i upper = _mm_castps_si128(_mm_shuffle_ps(a, b, 0xdd));
        sum = _mm_add_epi32(sum, _mm_and_si128(_mm_srli_epi32(upper, 20), _mm_set1_epi32(0x7ff)));
    }
    int each[4];
    _mm_storeu_si128((__m128i *)each, sum);
    return each[0] + each[1] + each[2] + each[3];
}

int main(void) {
    double numbers[COUNT], sum = 0;
    for (int i = 0; i < COUNT; i++) sum += numbers[i] = x * x / (i + 3);
    printf("%.17g %x %d\n", sum, infinite(numbers), exponents(numbers));
    return 0;
}
