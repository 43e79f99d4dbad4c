/* Doubles put together by vector instructions from parts of two, and used as such. Digits that are constants round; those of another
 * number with a derivative leave none, which is counted; halves of one number are that again. */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.7;

/* Not known to the compiler: neither is what becomes of them. */
#define HIDE(a) __asm__("" : "+x"(a));

#define SHOW(name, made)                                                      \
    do {                                                                      \
        __m128d a = {1.1 * x, 1.3 * x}, other = {3.3 * x, 2.3 * x};            \
        __m128d constant = {1.0 / 3, 0.7}, zero = {0, 0};                     \
        HIDE(a) HIDE(other) HIDE(constant) HIDE(zero)                         \
        __m128d sum = (made);                                                 \
        HIDE(sum)                                                             \
        sum += sum;                                                           \
        HIDE(sum)                                                             \
        printf(name " %.17g\n", sum[0]);                                      \
    } while (0)

#define AS_INTEGERS(f, a, b, by) \
    _mm_castsi128_pd(f(_mm_castpd_si128(a), _mm_castpd_si128(b), by))
#define AS_SINGLES(f, a, b, by) _mm_castps_pd(f(_mm_castpd_ps(a), _mm_castpd_ps(b), by))
#define WORDS(a, b) AS_INTEGERS(_mm_blend_epi16, a, b, 0x03)
#define HALVES(a, b) AS_SINGLES(_mm_blend_ps, a, b, 0x1)
#define INSERTED(a, b) AS_SINGLES(_mm_insert_ps, a, b, 0x00)
#define LOWEST(a, b) _mm_castps_pd(_mm_move_ss(_mm_castpd_ps(a), _mm_castpd_ps(b)))

static __attribute__((noinline)) void rounded(void)
{
    SHOW("words", WORDS(a, constant));
    SHOW("halves", HALVES(a, constant));
    SHOW("inserted", INSERTED(a, constant));
    SHOW("lowest", LOWEST(a, constant));
    SHOW("zero", WORDS(a, zero));
}

static __attribute__((noinline)) void same(void)
{
    SHOW("same", WORDS(a, a));
    SHOW("again", HALVES(HALVES(a, zero), a));
    SHOW("whole", AS_INTEGERS(_mm_blend_epi16, a, other, 0xf0));
}

static __attribute__((noinline)) void lost(void)
{
    SHOW("words", WORDS(a, other));
    SHOW("halves", HALVES(a, other));
    SHOW("inserted", INSERTED(a, other));
    SHOW("lowest", LOWEST(a, other));
    SHOW("crossed", AS_SINGLES(_mm_shuffle_ps, a, a, 0xec));
    SHOW("digits", WORDS(constant, other));
}

int main(void)
{
    for (int i = 0; i < 4; i++) rounded(), same(), lost();
    return 0;
}
