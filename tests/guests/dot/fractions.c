// Rounding to fractions by a number that is added and taken off again: the nearest fraction has no derivative, and what is left of
// the number has all of it. Terms that are taken off and round nothing, as compensated sums have them, leave derivatives alone.
#include "check.h"

#if KIND == 4
#define WHOLE 12582912.0f
#define STEPS 16
#define BIAS 127
#define FRACTION 23
typedef uint32_t word;
#else
#define WHOLE 6755399441055744.0
#define STEPS 64
#define BIAS 1023
#define FRACTION 52
typedef uint64_t word;
#endif

static real nearest(real x)
{
    real magic = WHOLE / STEPS;
    return x + magic - magic;
}

static real rest(real x, real added)
{
    real magic = WHOLE / STEPS + added, sum = x + magic;
    return x - (sum - magic);
}

/* The digits of the sum are the number of steps. */
static real power_of_two(real x)
{
    real magic = WHOLE / STEPS, sum = x + magic;
#if KIND == 4
    int32_t digits, none;
#else
    int64_t digits, none;
#endif
    memcpy(&digits, &sum, sizeof digits);
    memcpy(&none, &magic, sizeof none);
    long steps = (long)(digits - none);
    real left = x - (sum - magic);
    return M(exp2)((real)steps / STEPS) * M(exp2)(left);
}

/* The same with a bias in the number: the upper ones of those digits are an exponent. */
static real power_by_exponent(real x)
{
    real magic = WHOLE / STEPS + BIAS, sum = x + magic, scale;
    word digits;
    memcpy(&digits, &sum, sizeof digits);
    word field = digits / STEPS % (2 * BIAS + 2) << FRACTION;
    memcpy(&scale, &field, sizeof scale);
    real left = x - (sum - magic);
    return scale * M(exp2)((real)(digits % STEPS) / STEPS) * M(exp2)(left);
}

/* What two-sum leaves of a term; nothing of it is a number that rounds. */
static real lost(real x, real large)
{
    real sum = x + large, back = sum - large;
    return back * back;
}

static __attribute__((noinline)) real difference(real x, real magic)
{
    real sum = x * magic + magic;
    return (sum - magic) / magic;
}

static void checks(void)
{
#ifndef __FAST_MATH__ // which may take the number off before it is added
    AT("nearest^", nearest(x), 0, 0.3, -2.7, 17.1);
    AT("rest^", rest(x, 0), 1, 0.3, -2.7, 17.1);
    AT("rest-by-bias^", rest(x, 2 * BIAS), 1, 0.3, -2.7, 17.1); // as for a table of twice as many entries
    AT("rest-by-unit^", rest(x, (real)1 / STEPS), 1, 0.3, -2.7, 17.1);
    AT("power-by-exponent~16", power_by_exponent(x), W(exp2)(w) * W(log)(2.0L), 0.3, -2.7, 7.1);
    AT("power~16", power_of_two(x), W(exp2)(w) * W(log)(2.0L), 0.3, -2.7, 7.1);
#endif
    AT("lost~16^", lost(x, 4097), 2 * w, 0.5, -2.5);
    AT("large~16^", difference(x, WHOLE / STEPS), 1, 0.125, 0.75, 2.5);
}
