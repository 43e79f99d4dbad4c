/* Half precision as F16C has it: kept in 16 bits, computed with as floats. The derivative of a half is a half too: 2^-10
 * is what it may be off by, relatively (`~977`), for each time it was stored. */
#include "check.h"
#include <immintrin.h>

/* An older clang has halves as what is stored only. */
#if defined __clang__ && __clang_major__ < 15
typedef __fp16 half;
#else
typedef _Float16 half;
#endif

#define NEAR "~977^"
#define NEAR2 "~1954^"

static real sum(const float *x, int n)
{
    real s = 0;
    for (int i = 0; i < n; i++) s += (real)((i + 1) * x[i]);
    return s;
}

static real sum4(__m128 v)
{
    float x[4];
    _mm_storeu_ps(x, v);
    return sum(x, 4);
}

static real sum8(__m256 v)
{
    float x[8];
    _mm256_storeu_ps(x, v);
    return sum(x, 8);
}

/* x, 2x, 3x, … */
static __m128 four(real x)
{
    float f = (float)x;
    return _mm_setr_ps(f, 2 * f, 3 * f, 4 * f);
}

static __m256 eight(real x)
{
    float f = (float)x;
    return _mm256_setr_ps(f, 2 * f, 3 * f, 4 * f, 5 * f, 6 * f, 7 * f, 8 * f);
}

/* Sums of the squares of 1 … 4 and 1 … 8. */
#define SUM4 30
#define SUM8 204

static void instructions(void)
{
    static uint16_t stored[16];
    real x = at(0.7);
    check("vcvtps2ph-4^", sum4(_mm_cvtph_ps(_mm_cvtps_ph(four(x), 0))), SUM4);
    check("vcvtps2ph-8^", sum8(_mm256_cvtph_ps(_mm256_cvtps_ph(eight(x), 0))), SUM8);
    check("down^", sum4(_mm_cvtph_ps(_mm_cvtps_ph(four(x), 1))), SUM4);
    check("up^", sum4(_mm_cvtph_ps(_mm_cvtps_ph(four(x), 2))), SUM4);
    check("truncated^", sum4(_mm_cvtph_ps(_mm_cvtps_ph(four(x), 3))), SUM4);
    check("by-mode^", sum4(_mm_cvtph_ps(_mm_cvtps_ph(four(x), 4))), SUM4);
    _mm_storel_epi64((__m128i *)stored, _mm_cvtps_ph(four(x), 0));
    check("memory-4^", sum4(_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)stored))), SUM4);
    _mm_storeu_si128((__m128i *)(stored + 3), _mm256_cvtps_ph(eight(x), 4));
    check("memory-8^", sum8(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(stored + 3)))), SUM8);
    check("in-between^", sum4(_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(stored + 4)))), 2 + 2 * 3 + 3 * 4 + 4 * 5);
    /* A dot that takes more digits than a half has. */
    check("rounded" NEAR, sum4(_mm_cvtph_ps(_mm_cvtps_ph(four(x / 3), 0))), SUM4 / 3.0L);
    check("squared" NEAR, sum8(_mm256_cvtph_ps(_mm256_cvtps_ph(eight(x * x), 0))), SUM8 * 1.4L);
    /* Only some have one. */
    __m128 some = _mm_blend_ps(_mm_set1_ps(3), four(x), 5);
    check("some^", sum4(_mm_cvtph_ps(_mm_cvtps_ph(some, 0))), 1 + 9);
    check("none^", sum4(_mm_cvtph_ps(_mm_cvtps_ph(_mm_set1_ps(3), 0))) + 0 * x, 0);
}

static real back(__m128i halves) { return sum4(_mm_cvtph_ps(halves)); }

static void moves(void)
{
    __m128i h = _mm_cvtps_ph(four(at(0.7)), 0);
    __m128i zero = _mm_setzero_si128();
    check("pshuflw^", back(_mm_shufflelo_epi16(h, _MM_SHUFFLE(0, 1, 2, 3))), 4 + 2 * 3 + 3 * 2 + 4);
    check("punpcklwd^", back(_mm_unpacklo_epi16(h, zero)), 1 + 3 * 2);
    check("pblendw^", back(_mm_blend_epi16(h, zero, 6)), 1 + 4 * 4);
    check("palignr^", back(_mm_alignr_epi8(h, h, 2)), 2 + 2 * 3 + 3 * 4);
    check("pinsrw^", back(_mm_insert_epi16(zero, _mm_extract_epi16(h, 2), 1)), 2 * 3);
    check("pextrw^", back(_mm_set1_epi16((short)_mm_extract_epi16(h, 3))), 4 * (1 + 2 + 3 + 4));
    __m128i shifted = h;
    __asm__("psrlq $16, %0" : "+x"(shifted));
    check("psrlq^", back(shifted), 2 + 2 * 3 + 3 * 4);
    check("pslldq^", back(_mm_slli_si128(h, 4)), 3 + 4 * 2);
    check("pshufb^", back(_mm_shuffle_epi8(h, _mm_set1_epi16(0x0504))), 3 * (1 + 2 + 3 + 4));
    check("pmovzxwd^", back(_mm_cvtepu16_epi32(h)), 1 + 3 * 2);
}

/* Not known to the compiler. */
static __attribute__((noinline)) uint16_t same(uint16_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}

struct pair { half first; char between; half second; };

static __attribute__((noinline)) void exchange(half *a, half *b)
{
    half t = *a;
    *a = *b;
    *b = t;
}

static void words(void)
{
    static uint16_t bits[8];
    static half copies[8];
    half h[4];
    real x = at(0.7);
    for (int i = 0; i < 4; i++) h[i] = (half)(float)((i + 1) * x);
    memcpy(bits, h, sizeof h);
    uint16_t last = same(bits[3]);
    memcpy(copies, &last, 2);
    check("movzx^", (real)(float)copies[0], 4);
    for (int i = 0; i < 4; i++) bits[4 + i] = same(bits[i]);
    memcpy(copies, bits + 4, 8);
    check("copied^", (real)((float)copies[0] + 2 * (float)copies[1] + 3 * (float)copies[2] + 4 * (float)copies[3]), SUM4);
    uint32_t two = same(bits[0]) | (uint32_t)same(bits[1]) << 16;
    memcpy(copies, &two, 4);
    check("joined^", (real)((float)copies[0] + 2 * (float)copies[1]), 1 + 4);
    exchange(h, h + 1);
    check("exchanged^", (real)((float)h[0] + 2 * (float)h[1]), 2 + 2);
    struct pair p = {h[2], 1, h[3]}, q = p;
    check("struct^", (real)((float)q.first + 2 * (float)q.second), 3 + 8);
    /* Overwritten. */
    bits[0] = same(0x3c00);
    memcpy(copies, bits, 2);
    check("overwritten^", (real)(float)copies[0] + 0 * x, 0);
}

static __attribute__((noinline)) float polynomial(float f)
{
    half x = (half)f, y = x * x, z = y * x;
    return (float)(z - 2 * y + x);
}

static void arithmetic(void)
{
    half h[9], s = 0;
    real x = at(0.75);
    for (int i = 0; i < 9; i++) h[i] = (half)((float)x * (float)i);
    for (int i = 0; i < 9; i++) s = (half)((float)s + (float)h[i]);
    check("sum^", (real)(float)s, 36);
    check("negative^", (real)(float)(half)-h[2], -2);
    half minus = (half)(float)-x;
    check("absolute^", (real)(float)(half)(minus < 0 ? -minus : minus), 1);
    check("larger^", (real)(float)(h[3] > h[2] ? h[3] : h[2]), 3);
    check("polynomial~3900^", (real)polynomial((float)x), 3 * 0.75L * 0.75L - 4 * 0.75L + 1);
    check("quotient" NEAR2, (real)(float)(half)(1 / (half)(float)x), -1 / (0.75L * 0.75L));
    check("root" NEAR2, (real)(float)(half)sqrtf((float)(half)(float)x), 0.5L / sqrtl(0.75L));
}

static void checks(void)
{
    instructions();
    moves();
    words();
    arithmetic();
}
