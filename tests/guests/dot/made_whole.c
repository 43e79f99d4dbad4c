/* Whole numbers made of floats, in each way that there is: each function does so three times with x, which is seeded, and once with a
 * constant; `often` and `often_on_stack` do so 1100000 times, and `calls` 3000. What is printed is as if x were constant. */
#include <emmintrin.h>
#include <math.h>
#include <stdio.h>

#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

double x = 2.75;
double values[4];
float narrow[4];
volatile double sum;

#define APART __attribute__((noinline))

static APART long converted(double value) { return (long)value; }
static APART int from_memory(const double *value) { return (int)*value; }
static APART int of_float(float value) { return (int)value; }
static APART int to_nearest(__m128d value) { return _mm_cvtsd_si32(value); }
static APART __m128i packed(__m128d value) { return _mm_cvttpd_epi32(value); }
static APART __m128i of_floats(const __m128 *value) { return _mm_cvtps_epi32(*value); }
static APART long on_stack(long double value) { return (long)value; }
static APART long double rounded_on_stack(long double value)
{
    __asm__ volatile("frndint" : "+t"(value));
    return value;
}
static APART double by_magic(volatile double value) { return value + 0x1.8p52 - 0x1.8p52; }
static APART double by_modf(double value)
{
    double whole;
    modf(value, &whole);
    return whole;
}
static APART double by_rint(double value)
{
    double (*volatile rounds)(double) = rint;
    return rounds(value);
}
static APART long by_lround(double value)
{
    long (*volatile rounds)(double) = lround;
    return rounds(value);
}
static APART long by_lroundf(float value)
{
    long (*volatile rounds)(float) = lroundf;
    return rounds(value);
}
static APART long by_llroundl(long double value)
{
    long long (*volatile rounds)(long double) = llroundl;
    return rounds(value);
}
static APART long double by_floorl(long double value) { return floorl(value); }
#ifdef __SSE4_1__
static APART __m128d by_instruction(__m128d value) { return _mm_round_pd(value, 1); }
static APART double by_one_instruction(double value)
{
    __m128d all = _mm_set_sd(value);
    return _mm_cvtsd_f64(_mm_round_sd(all, all, 2));
}
#endif
static APART long often(double value)
{
    long total = 0;
    for (int i = 0; i < 1100000; i++) {
        __asm__ volatile("" : "+x"(value));
        total += (long)value;
    }
    return total;
}
static APART long often_on_stack(long double value)
{
    long total = 0;
    for (int i = 0; i < 1100000; i++) {
        __asm__ volatile("" : "+t"(value));
        total += (long)value;
    }
    return total;
}
static APART double calls(double value)
{
    double (*volatile rounds)(double) = floor;
    double total = 0;
    for (int i = 0; i < 3000; i++) total += rounds(value);
    return total;
}

static void all(double value)
{
    values[0] = value;
    narrow[0] = (float)value;
    sum += converted(value) + from_memory(values) + of_float(narrow[0]) + to_nearest(_mm_set_sd(value));
    sum += _mm_cvtsi128_si32(packed(_mm_set_sd(value)));
    sum += _mm_cvtsi128_si32(of_floats((const __m128 *)narrow));
    sum += on_stack(value) + rounded_on_stack(value) + by_magic(value) + by_modf(value) + by_rint(value);
    sum += by_floorl(value) + by_lround(value) + by_lroundf(narrow[0]) + by_llroundl(value);
#ifdef __SSE4_1__
    sum += _mm_cvtsd_f64(by_instruction(_mm_set_sd(value))) + by_one_instruction(value);
#endif
}

int main(void)
{
    for (int i = 0; i < 3; i++) all(x + i);
    all(1.5);
    sum += often(x) + often_on_stack(x) + calls(x);
    printf("%g %g\n", sum, x);
    return 0;
}
