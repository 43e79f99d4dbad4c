// Doubles are asked whether they are infinite, several at once, as numpy does: their digits are shifted and compared, and none is lost.
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

int main(void) {
    double numbers[COUNT], sum = 0;
    for (int i = 0; i < COUNT; i++) sum += numbers[i] = x * x / (i + 3);
    printf("%.17g %x\n", sum, infinite(numbers));
    return 0;
}
