// One vector instruction each: shuffles, blends, permutes, inserts, gathers, masked moves, conversions, horizontal sums.
//@ double only: the element types are those of the instructions
//@ flags: -mavx2 -mfma -mf16c
#include "check.h"
#include <immintrin.h>

/* The sum of lane i times i + 1: an element in the wrong place shows. */
static double of_doubles(__m256d v)
{
    volatile double a[4];
    _mm256_storeu_pd((double *)a, v);
    return a[0] + 2 * a[1] + 3 * a[2] + 4 * a[3];
}

static double of_floats(__m256 v)
{
    volatile float a[8];
    double sum = 0;
    _mm256_storeu_ps((float *)a, v);
    for (int i = 0; i < 8; i++) sum += (double)a[i] * (i + 1);
    return sum;
}

static double of_halves(__m128d v) { return of_doubles(_mm256_castpd128_pd256(v)) * 0 + _mm_cvtsd_f64(v) + 2 * _mm_cvtsd_f64(_mm_unpackhi_pd(v, v)); }
static double of_quarter(__m128 v) { return of_floats(_mm256_insertf128_ps(_mm256_setzero_ps(), v, 0)); }

/* Lanes x, 2x, 3x, …, with the derivatives 1, 2, 3, … */
static __m256d doubles(double x) { return _mm256_mul_pd(_mm256_set1_pd(x), _mm256_setr_pd(1, 2, 3, 4)); }
static __m256 floats(double x) { return _mm256_mul_ps(_mm256_set1_ps((float)x), _mm256_setr_ps(1, 2, 3, 4, 5, 6, 7, 8)); }
static __m128d pair(double x) { return _mm256_castpd256_pd128(doubles(x)); }
static __m128 four(double x) { return _mm256_castps256_ps128(floats(x)); }

/* Legacy instructions between wider ones leave upper halves alone. */
static inline __attribute__((always_inline)) __m256d between(double x, int which)
{
    __m256d v = doubles(x);
    if (which == 0) __asm__("addpd %x0, %x0" : "+x"(v));
    else if (which == 1) __asm__("mulsd %x0, %x0" : "+x"(v));
    else __asm__("xorpd %x0, %x0" : "+x"(v));
    return v;
}

/* One of three instructions in its legacy form, with the second operand in memory. */
static __m128d in_memory(__m128d a, __m128d b, int which)
{
    if (which == 0) __asm__("haddpd %1, %0" : "+x"(a) : "m"(b));
    else if (which == 1) __asm__("addsubpd %1, %0" : "+x"(a) : "m"(b));
    else __asm__("dppd $0x31, %1, %0" : "+x"(a) : "m"(b));
    return a;
}

#define D(name, vector, derivative) AT(name, of_doubles(vector), derivative, 0.75, -2.5)
#define F(name, vector, derivative) AT(name "^", of_floats(vector), derivative, 0.75, -2.5)
#define H(name, vector, derivative) AT(name, of_halves(vector), derivative, 0.75, -2.5)
#define Q(name, vector, derivative) AT(name "^", of_quarter(vector), derivative, 0.75, -2.5)

static void arithmetic(void)
{
    __m256d ten = _mm256_set1_pd(10);
    D("addpd", _mm256_add_pd(doubles(x), ten), 30);
    D("mulpd", _mm256_mul_pd(doubles(x), ten), 300);
    D("addsubpd", _mm256_addsub_pd(ten, doubles(x)), -1 + 4 - 9 + 16);
    D("haddpd", _mm256_hadd_pd(doubles(x), ten), 3 + 3 * 7);
    D("hsubpd", _mm256_hsub_pd(doubles(x), ten), -1 - 3);
    F("haddps", _mm256_hadd_ps(floats(x), floats(x)), 3 + 14 + 9 + 28 + 5 * 11 + 6 * 15 + 7 * 11 + 8 * 15);
    F("dpps", _mm256_dp_ps(floats(x), _mm256_set1_ps(2), 0xf1), 20 + 5 * 52);
    H("dppd", _mm_dp_pd(pair(x), _mm_set1_pd(2), 0x33), 6 + 12);
    D("fmaddpd", _mm256_fmadd_pd(doubles(x), ten, doubles(x)), 330);
    D("fnmsubpd", _mm256_fnmsub_pd(doubles(x), ten, doubles(x)), -330);
    D("fmaddsubpd", _mm256_fmaddsub_pd(doubles(x), ten, doubles(x)), 9 + 44 + 81 + 176);
    D("fmsubaddpd", _mm256_fmsubadd_pd(doubles(x), ten, doubles(x)), 11 + 36 + 99 + 144);
    H("addsd-upper", _mm_add_sd(pair(x), _mm_set1_pd(3)), 1 + 4);
    H("sqrtsd-upper~2", _mm_sqrt_sd(pair(x), _mm_set_sd(4)), 4);
    D("minpd", _mm256_min_pd(doubles(x), _mm256_setr_pd(9, -9, 9, -9)), w < 0 ? 1 + (-5 < -9 ? 4 : 0) + 9 + (-10 < -9 ? 16 : 0) : 10);
    D("maxpd", _mm256_max_pd(doubles(x), _mm256_setr_pd(9, -9, 9, -9)), w < 0 ? 4 : 4 + 16);
    D("roundpd^", _mm256_round_pd(doubles(x), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC), 0);
}

/* Lanes of both operands combined, in memory and in registers, by masks that leave some out. */
static void combined(void)
{
    Q("haddps-two", _mm_hadd_ps(four(x), four(x)), 3 + 14 + 9 + 28);
    Q("hsubps", _mm_hsub_ps(four(x), _mm_set1_ps(5)), -1 - 2);
    H("hsubpd-two", _mm_hsub_pd(pair(x), pair(x)), -1 - 2);
    Q("addsubps", _mm_addsub_ps(_mm_set1_ps(2), four(x)), -1 + 4 - 9 + 16);
    F("fmaddsubps", _mm256_fmaddsub_ps(floats(x), _mm256_set1_ps(10), floats(x)), 9 * (1 + 9 + 25 + 49) + 11 * (4 + 16 + 36 + 64));
    Q("dpps-some", _mm_dp_ps(four(x), four(x), 0x5a), (2 + 4) * 20 * w);
    Q("dpps-none", _mm_dp_ps(four(x), four(x), 0x0f), 0);
    H("dppd-one", _mm_dp_pd(pair(x), pair(x), 0x21), 8 * w);
    H("haddpd-memory", in_memory(pair(x), pair(x), 0), 3 + 2 * 3);
    H("addsubpd-memory", in_memory(pair(x), pair(x), 1), 0 + 2 * 4);
    H("dppd-memory", in_memory(pair(x), pair(x), 2), 10 * w);
}

static void shuffles(void)
{
    __m256d other = _mm256_set1_pd(7);
    D("unpcklpd", _mm256_unpacklo_pd(doubles(x), other), 1 + 9);
    D("unpckhpd", _mm256_unpackhi_pd(other, doubles(x)), 4 + 16);
    D("shufpd", _mm256_shuffle_pd(doubles(x), doubles(2 * x), 0x6), 1 + 2 * 4 + 3 * 4 + 4 * 6);
    F("shufps", _mm256_shuffle_ps(floats(x), floats(2 * x), 0x1b), 4 + 6 + 12 + 8 + 40 + 42 + 84 + 80);
    D("permilpd", _mm256_permute_pd(doubles(x), 0x5), 2 + 2 + 12 + 12);
    F("permilps", _mm256_permute_ps(floats(x), 0x1b), 4 + 6 + 6 + 4 + 40 + 42 + 42 + 40);
    F("permilps-variable", _mm256_permutevar_ps(floats(x), _mm256_setr_epi32(3, 2, 1, 0, 3, 2, 1, 0)), 4 + 6 + 6 + 4 + 40 + 42 + 42 + 40);
    D("permpd", _mm256_permute4x64_pd(doubles(x), 0x1b), 4 + 6 + 6 + 4);
    F("permps", _mm256_permutevar8x32_ps(floats(x), _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0)), 8 + 14 + 18 + 20 + 20 + 18 + 14 + 8);
    D("perm2f128", _mm256_permute2f128_pd(doubles(x), other, 0x21), 3 + 8);
    D("insertf128", _mm256_insertf128_pd(other, pair(x), 1), 3 + 8);
    H("extractf128", _mm256_extractf128_pd(doubles(x), 1), 3 + 8);
    D("broadcastsd", _mm256_broadcastsd_pd(pair(x)), 10);
    H("movddup", _mm_movedup_pd(pair(x)), 3);
    Q("movshdup", _mm_movehdup_ps(four(x)), 2 + 4 + 12 + 16);
    Q("movsldup", _mm_moveldup_ps(four(x)), 1 + 2 + 9 + 12);
    Q("insertps", _mm_insert_ps(four(x), four(x), 0xd4), 1 + 2 * 4 + 16);
    Q("movlhps", _mm_movelh_ps(four(x), four(x)), 1 + 4 + 3 + 8);
    Q("movhlps", _mm_movehl_ps(four(x), four(x)), 3 + 8 + 9 + 16);
    H("pshufd", _mm_castsi128_pd(_mm_shuffle_epi32(_mm_castpd_si128(pair(x)), 0x4e)), 2 + 2);
    H("pshufb", _mm_castsi128_pd(_mm_shuffle_epi8(_mm_castpd_si128(pair(x)), _mm_setr_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))), 2 + 2);
    H("palignr", _mm_castsi128_pd(_mm_alignr_epi8(_mm_castpd_si128(pair(x)), _mm_castpd_si128(_mm_set1_pd(7)), 8)), 2);
    H("pslldq", _mm_castsi128_pd(_mm_slli_si128(_mm_castpd_si128(pair(x)), 8)), 2);
    H("psllq-by-0", _mm_castsi128_pd(_mm_sll_epi64(_mm_castpd_si128(pair(x)), _mm_setzero_si128())), 1 + 4);
    H("punpcklqdq", _mm_castsi128_pd(_mm_unpacklo_epi64(_mm_castpd_si128(pair(x)), _mm_castpd_si128(pair(x)))), 1 + 2);
    H("pinsrq", _mm_castsi128_pd(_mm_insert_epi64(_mm_castpd_si128(pair(x)), _mm_cvtsi128_si64(_mm_castpd_si128(pair(x))), 1)), 1 + 2);
}

static void selections(void)
{
    __m256d other = _mm256_set1_pd(7), mask = _mm256_cmp_pd(_mm256_setr_pd(1, -1, -1, 1), _mm256_setzero_pd(), _CMP_LT_OQ);
    D("blendpd", _mm256_blend_pd(doubles(x), other, 0x6), 1 + 16);
    D("blendvpd", _mm256_blendv_pd(doubles(x), other, mask), 1 + 16);
    F("blendps", _mm256_blend_ps(floats(x), _mm256_setzero_ps(), 0xf0), 1 + 4 + 9 + 16);
    H("pblendw", _mm_castsi128_pd(_mm_blend_epi16(_mm_castpd_si128(pair(x)), _mm_setzero_si128(), 0xf0)), 1);
    F("blendvps", _mm256_blendv_ps(floats(x), _mm256_set1_ps(7), _mm256_setr_ps(1, -1, 1, -1, -1, 1, -0.0f, 1)), 1 + 9 + 36 + 64);
    Q("blendvps-128", _mm_blendv_ps(four(x), four(2 * x), _mm_setr_ps(-1, 1, -1, 1)), 2 + 4 + 18 + 16);
    D("between-addpd", between(x, 0), 2 + 8 + 9 + 16);
    D("between-mulsd", between(x, 1), 2 * w + 4 + 9 + 16);
    D("between-xorpd", between(x, 2), 9 + 16);
    D("andpd-mask", _mm256_and_pd(doubles(x), mask), 4 + 9);
    D("andnpd-mask", _mm256_andnot_pd(mask, doubles(x)), 1 + 16);
    D("orpd-zero", _mm256_or_pd(_mm256_andnot_pd(mask, doubles(x)), _mm256_and_pd(mask, other)), 1 + 16);
    D("xorpd-sign", _mm256_xor_pd(doubles(x), _mm256_set1_pd(-0.0)), -30);
    D("andpd-abs", _mm256_and_pd(doubles(x), _mm256_castsi256_pd(_mm256_set1_epi64x(0x7fffffffffffffff))), w < 0 ? -30 : 30);
    D("pand-abs", _mm256_castsi256_pd(_mm256_and_si256(_mm256_castpd_si256(doubles(x)), _mm256_set1_epi64x(0x7fffffffffffffff))), w < 0 ? -30 : 30);
}

static __m256d stored_masked(double x)
{
    double place[4] = {0, 0, 0, 0};
    _mm256_maskstore_pd(place, _mm256_setr_epi64x(-1, 0, -1, 0), doubles(x));
    return _mm256_loadu_pd(place);
}

/* A constant over one of two, by bytes. */
static __m128d stored_by_bytes(double x)
{
    double place[2];
    _mm_storeu_pd(place, pair(x));
    __asm__ volatile("" : : "r"(place) : "memory");
    _mm_maskmoveu_si128(_mm_castpd_si128(_mm_set1_pd(7)), _mm_set_epi64x(-1, 0), (char *)place);
    __asm__ volatile("" : : "r"(place) : "memory");
    return _mm_loadu_pd(place);
}

/* Two integers over the lower half. */
static __m128 half_converted(double x)
{
    __m128 floats = four(x);
    int integers[2] = {5, 6};
    __asm__("cvtpi2ps %1, %0" : "+x"(floats) : "m"(integers));
    return floats;
}

static __m256d loaded_masked(double x)
{
    double place[4];
    _mm256_storeu_pd(place, doubles(x));
    __asm__ volatile("" : : "r"(place) : "memory");
    return _mm256_maskload_pd(place, _mm256_setr_epi64x(0, -1, -1, 0));
}

static __m256d gathered(double x, int masked)
{
    double place[8];
    _mm256_storeu_pd(place, doubles(x));
    _mm256_storeu_pd(place + 4, doubles(x * 10));
    __asm__ volatile("" : : "r"(place) : "memory");
    __m128i index = _mm_setr_epi32(6, 0, 5, 3);
    if (!masked) return _mm256_i32gather_pd(place, index, 8);
    return _mm256_mask_i32gather_pd(doubles(x), place, index, _mm256_setr_pd(-1.0, 1.0, -1.0, 1.0), 8);
}

static __m256 masked_floats(double x)
{
    float place[8] = {0}, again[8];
    _mm256_maskstore_ps(place, _mm256_setr_epi32(-1, 0, -1, 0, -1, -1, 0, -1), floats(x));
    __asm__ volatile("" : : "r"(place) : "memory");
    _mm256_storeu_ps(again, _mm256_maskload_ps(place, _mm256_setr_epi32(0, -1, -1, -1, -1, 0, -1, -1)));
    return _mm256_loadu_ps(again);
}

static __m256 gathered_floats(double x)
{
    float place[16] = {0};
    _mm256_storeu_ps(place + 4, floats(x));
    __asm__ volatile("" : : "r"(place) : "memory");
    __m256i index = _mm256_setr_epi32(7, 6, 5, 4, 8, 9, -1, 11);
    return _mm256_mask_i32gather_ps(_mm256_setzero_ps(), place, index, _mm256_setr_ps(-1, -1, 1, -1, -1, 1, 1, -1), 4);
}

/* Half as many floats as indices have bytes for. */
static __m128 gathered_far(double x)
{
    float place[4];
    _mm_storeu_ps(place, four(x));
    __asm__ volatile("" : : "r"(place) : "memory");
    __m128 all = _mm256_i64gather_ps(place, _mm256_setr_epi64x(3, 2, 1, 0), 4);
    return _mm_add_ps(all, _mm_i64gather_ps(place, _mm_set_epi64x(0, 3), 4));
}

static __m256d streamed(double x)
{
    double place[4] __attribute__((aligned(32)));
    _mm256_stream_pd(place, doubles(x));
    _mm_sfence();
    return _mm256_load_pd(place);
}

#ifdef __cplusplus
extern "C"
#endif
__m256d _ZGVdN4v_cos(__m256d);

/* Upper halves come to be in use in the function only. */
static __m256d low_cosine(double x)
{
    __m128d low = _mm_set_sd(x);
    _mm256_zeroupper();
    return _mm256_mul_pd(_ZGVdN4v_cos(_mm256_zextpd128_pd256(low)), doubles(x));
}

/* SSE code between code that uses upper halves. */
static __m256d widened(double x)
{
    __m128d low = pair(x);
    _mm256_zeroupper();
    for (int i = 0; i < 4; i++) __asm__ volatile("addsd %1, %0\n\tdivsd %2, %0" : "+x"(low) : "x"(low), "x"(_mm_set_sd(2)));
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), low, 1);
}

static void memory(void)
{
    D("maskstore", stored_masked(x), 1 + 9);
    H("maskmovdqu", stored_by_bytes(x), 1);
    D("maskload", loaded_masked(x), 4 + 9);
    D("gather", gathered(x, 0), 30 + 2 + 3 * 20 + 16);
    D("gather-masked", gathered(x, 1), 30 + 4 + 3 * 20 + 16);
    F("maskmovps", masked_floats(x), 9 + 25 + 64);
    F("gatherdps", gathered_floats(x), 4 + 2 * 3 + 4 * 1 + 5 * 5 + 8 * 8);
    Q("gatherqps", gathered_far(x), 4 + 2 * 3 + 3 * 2 + 4 + 4 + 2);
    D("movntpd", streamed(x), 30);
    D("widened", widened(x), 1 + 4 + 3 + 8);
    D("low-cosine", low_cosine(x), cosl(w) - w * sinl(w) + 4 + 9 + 16);
}

static const int powers[4][8] = {
    {0, 1, -1, 2, -2, 3, 0, 1}, {-3, 0, 5, 1, 1, -7, 2, 0}, {1, 1, 1, 1, -1, -1, -1, -1}, {0, 0, 0, 0, 20, -20, 0, 1}};

/* Exponents added and subtracted as integers, and fractions cut out, often: by vector sums and by logic, typed or not. */
static __attribute__((noinline)) double taken_apart(double x, int how)
{
    double total = 0;
    for (int i = 0; i < 200; i++) {
        __m256 v = floats(x * (1 + 0.25 * (i % 4))), one = _mm256_set1_ps(1), r = one;
        __m256i exponents = _mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)powers[i % 4]), 23), bits = _mm256_castps_si256(v);
        __m256 cut = _mm256_and_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffff)));
        __asm__("" : "+x"(cut));
        switch (how) {
        case 0: r = _mm256_castsi256_ps(_mm256_add_epi32(bits, exponents)); break;
        case 1: r = _mm256_castsi256_ps(_mm256_sub_epi32(bits, exponents)); break;
        case 2: r = _mm256_castsi256_ps(_mm256_add_epi32(exponents, bits)); break;
        case 3: r = _mm256_or_ps(cut, one); break;
        case 4: r = _mm256_castsi256_ps(_mm256_or_si256(_mm256_castps_si256(cut), _mm256_castps_si256(one))); break;
        case 5: r = _mm256_cvtepi32_ps(_mm256_srli_epi32(bits, 23)); break;
        case 6: r = _mm256_castsi256_ps(_mm256_add_epi32(bits, _mm256_castps_si256(_mm256_blend_ps(v, _mm256_setzero_ps(), 0xff)))); break;
        }
        total += of_floats(r);
    }
    return total;
}

static wide taken_apart_slope(wide w, int how)
{
    wide total = 0;
    for (int i = 0; i < 200; i++)
        for (int lane = 0; lane < 8; lane++) {
            wide own = (lane + 1) * (1 + 0.25L * (i % 4)), n = powers[i % 4][lane];
            if (how == 1) n = -n;
            if (how == 3 || how == 4) n = -ilogbl(own * w);
            if (how == 6) n = 0;
            if (how == 5) continue;
            total += (lane + 1) * own * exp2l(n) * (w < 0 && (how == 3 || how == 4) ? -1 : 1);
        }
    return total;
}

#define A(name, how) AT(name "^", taken_apart(x, how), taken_apart_slope(w, how), 0.75, -2.5)

static void parts(void)
{
    A("exponent-added", 0);
    A("exponent-subtracted", 1);
    A("added-to-exponent", 2);
    A("fraction-orps", 3);
    A("fraction-por", 4);
    A("exponent-alone", 5);
    A("nothing-added", 6);
}

/* In every lane 1.5·2^23, with the derivative of c·x where c is not 0. */
static __m256 magic(double x, double c) { return _mm256_set1_ps(12582912.0f * (float)(c == 0 ? 1 : c * x)); }

/* Sums that round: what is rounded has no derivative in the sum. But a number with a derivative is no magic one (to a float: `~1e7`). */
static void roundings(void)
{
    const float m = 12582912.0f;
    __m256 some = _mm256_setr_ps(m, 1, m, 1, 8388608.0f, 1, 3, -m);
    F("magic-right", _mm256_add_ps(floats(x), magic(x, 0)), 0);
    F("magic-left", _mm256_add_ps(magic(x, 0), floats(x)), 0);
    F("magic-taken", _mm256_sub_ps(floats(x), magic(x, 0)), 0);
    F("taken-from-magic", _mm256_sub_ps(magic(x, 0), floats(x)), 0);
    F("magic-fused", _mm256_fmadd_ps(floats(x), floats(x), magic(x, 0)), 0);
    F("magic-fused-taken", _mm256_fmsub_ps(floats(x), floats(x), magic(x, 0)), 0);
    F("magic-less-product", _mm256_fnmadd_ps(floats(x), floats(x), magic(x, 0)), 0);
    F("magic-in-some", _mm256_add_ps(some, floats(w < 0 ? -x : x)), (w < 0 ? -1 : 1) * (4 + 16 + 36 + 49));
    F("own-right~1e7", _mm256_add_ps(floats(x), magic(x, 1 / w)), 36 * m / w + 204);
    F("own-left~1e7", _mm256_add_ps(magic(x, 1 / w), floats(x)), 36 * m / w + 204);
    F("own-taken~1e7", _mm256_sub_ps(floats(x), magic(x, 1 / w)), -36 * m / w + 204);
    F("own-fused-taken~1e7", _mm256_fmsub_ps(floats(x), floats(x), magic(x, 1 / w)), -36 * m / w + 2592 * w);
    F("too-large", _mm256_add_ps(floats(1e9 * x), magic(x, 0)), 204e9);
    Q("magic-ss", _mm_add_ss(four(x), _mm_set_ss(m)), 4 + 9 + 16);
    Q("magic-ss-left", _mm_sub_ss(_mm_set_ss(m), four(x)), 0);
    D("magic-double^", _mm256_add_pd(doubles(x), _mm256_set1_pd(6755399441055744.0)), 0);
}

static void conversions(void)
{
    D("cvtps2pd^", _mm256_cvtps_pd(four(x)), 30);
    Q("cvtpd2ps", _mm256_cvtpd_ps(doubles(x)), 30);
    H("cvtss2sd^", _mm_cvtss_sd(pair(x), four(x)), 1 + 4);
    Q("cvtsd2ss", _mm_cvtsd_ss(four(x), pair(2 * x)), 2 + 4 + 9 + 16);
    D("cvtdq2pd^", _mm256_add_pd(doubles(x), _mm256_cvtepi32_pd(_mm256_cvttpd_epi32(doubles(100 * x)))), 30);
    Q("cvtpi2ps", half_converted(x), 9 + 16);
    Q("cvtph2ps", _mm_cvtph_ps(_mm_cvtps_ph(four(x), 0)), 30);
}

static void checks(void)
{
    arithmetic();
    combined();
    shuffles();
    selections();
    memory();
    conversions();
    roundings();
    parts();
}
