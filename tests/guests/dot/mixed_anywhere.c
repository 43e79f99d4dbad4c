/* Doubles put together by vector instructions that a register or a mask controls, or that move parts to other places, and used here
 * or by another function. Digits that are constants round; all else leaves no number that is known, and is counted. */
#include <immintrin.h>
#include <stdio.h>

double x = 1.7;

/* Not known to the compiler: neither is what becomes of them. */
#define HIDE(a) __asm__("" : "+x"(a));
#define KEPT __attribute__((noinline, noipa))
#define BITS(a) _mm_castpd_si128(a)
#define FLOATS(a) _mm_castsi128_pd(a)

/* The last digits are those of the other. */
#define SELECTED(a, b) FLOATS(_mm_blendv_epi8(BITS(a), BITS(b), last))
#define SHUFFLED(a, b) FLOATS(_mm_shuffle_epi8(BITS(_mm_unpacklo_pd(a, b)), places))
#define INSERTED(a, b) FLOATS(_mm_insert_epi16(BITS(a), _mm_extract_epi16(BITS(b), 1), 1))
#define HALF(a, b) FLOATS(_mm_insert_epi32(BITS(a), _mm_extract_epi32(BITS(b), 0), 0))
/* Parts are not where they were. */
#define ALIGNED(a, b) FLOATS(_mm_alignr_epi8(BITS(b), BITS(a), 4))
#define UNPACKED(a, b) FLOATS(_mm_unpacklo_epi32(BITS(b), BITS(a)))
#ifdef MASKED
#define BLENDED(a, b) FLOATS(_mm_mask_blend_epi8(mask, BITS(a), BITS(b)))
#define MOVED(a, b) FLOATS(_mm_mask_mov_epi16(BITS(a), mask, BITS(b)))
#define PERMUTED(a, b) FLOATS(_mm_permutex2var_epi32(BITS(a), _mm_setr_epi32(4, 1, 2, 3), BITS(b)))
#define CHOSEN(a, b) FLOATS(_mm_ternarylogic_epi64(last, BITS(b), BITS(a), 0xca))
#endif

static KEPT double twice(__m128d value)
{
    return value[0] + value[0];
}

#define SHOW(name, made)                                                         \
    do {                                                                         \
        __m128d a = {1.1 * x, 1.3 * x}, other = {3.3 * x, 2.3 * x};               \
        __m128d constant = {1.0 / 3, 0.7};                                       \
        __m128i last = _mm_set1_epi64x(0xffffff);                                \
        __m128i places = _mm_set_epi64x(0x0706050403020100, 0x07060504030a0908); \
        HIDE(a) HIDE(other) HIDE(constant) HIDE(last) HIDE(places)               \
        (void)other, (void)constant;                                             \
        __m128d here = (made), there;                                            \
        HIDE(here)                                                               \
        here += here;                                                            \
        HIDE(here)                                                               \
        printf(name " %.17g\n", here[0]);                                        \
        HIDE(a) HIDE(other) HIDE(constant)                                       \
        there = (made);                                                          \
        HIDE(there)                                                              \
        printf(name "-there %.17g\n", twice(there));                             \
    } while (0)

#define ALL(kinds, a, b)                 \
    SHOW("selected", SELECTED(a, b));    \
    SHOW("shuffled", SHUFFLED(a, b));    \
    SHOW("inserted", INSERTED(a, b));    \
    SHOW("half", HALF(a, b));            \
    kinds(a, b)

#ifdef MASKED
static volatile int seven = 7;
#define UNDER_MASKS(a, b)             \
    SHOW("blended", BLENDED(a, b));   \
    SHOW("moved", MOVED(a, b));       \
    SHOW("permuted", PERMUTED(a, b)); \
    SHOW("chosen", CHOSEN(a, b));
#define MASK const __mmask16 mask = seven;
#else
#define UNDER_MASKS(a, b)
#define MASK
#endif

static KEPT void rounded(void)
{
    MASK
    ALL(UNDER_MASKS, a, constant)
}

static KEPT void lost(void)
{
    MASK
    ALL(UNDER_MASKS, a, other)
    ALL(UNDER_MASKS, constant, a)
}

static KEPT void elsewhere(void)
{
    SHOW("aligned", ALIGNED(a, other));
    SHOW("unpacked", UNPACKED(other, a));
}

int main(void)
{
    rounded();
    lost();
    elsewhere();
    return 0;
}
