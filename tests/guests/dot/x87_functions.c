// Functions that are single x87 instructions, in loops in which everything around is in use: sums in vector registers, the carry
// flag, integers. Operands out of range are left as they are.
//@ long double: the stack has no other
#include "check.h"

enum { ROUNDS = 50 };

/* The sum over many points of `instructions` on x and y, which are in st(0) and st(1), by a loop of one asm statement that keeps
 * four sums in a vector register, a count in the carry flag and an integer. Wrong sums make the result NaN. */
#define LOOP(name, instructions)                                                                  \
    static __attribute__((noinline)) real name(const real *x, const real *y)                      \
    {                                                                                             \
        long turns = 0, carries = 0, left = ROUNDS;                                               \
        const float ones[4] = {1, 1, 1, 1};                                                       \
        float sums[4];                                                                            \
        real sum;                                                                                 \
        __asm__ volatile("fldz\n\txorps %%xmm5, %%xmm5\n\tmovups %[ones], %%xmm6\n"               \
                         "1:\tfldt (%[y])\n\tfldt (%[x])\n\t"                                     \
                         "addps %%xmm6, %%xmm5\n\tadd $1, %[turns]\n\tstc\n\t" instructions       \
                         "\n\tadc $0, %[carries]\n\tfaddp\n\tadd $16, %[x]\n\tadd $16, %[y]\n\t"  \
                         "dec %[left]\n\tjnz 1b\n\tmovups %%xmm5, %[sums]\n\tfstpt %[sum]"        \
                         : [sum] "=m"(sum), [sums] "=m"(sums), [turns] "+r"(turns),               \
                           [carries] "+r"(carries), [left] "+r"(left), [x] "+r"(x), [y] "+r"(y)   \
                         : [ones] "m"(ones)                                                       \
                         : "xmm5", "xmm6", "cc", "memory", "st", "st(1)", "st(2)", "st(3)");      \
        const int right = turns == ROUNDS && carries == ROUNDS && sums[0] == ROUNDS &&            \
                          sums[3] == ROUNDS;                                                      \
        return right ? sum : NAN;                                                                 \
    }
LOOP(sine, "fsin\n\tfstp %%st(1)")
LOOP(cosine, "fcos\n\tfstp %%st(1)")
LOOP(both, "fsincos\n\tfmulp\n\tfstp %%st(1)")
LOOP(tangent, "fptan\n\tfstp %%st(0)\n\tfstp %%st(1)")
LOOP(power, "f2xm1\n\tfstp %%st(1)")
LOOP(scaled, "fscale\n\tfstp %%st(1)")
LOOP(rest, "fprem\n\tfstp %%st(1)")
LOOP(nearest_rest, "fprem1\n\tfstp %%st(1)")
LOOP(logarithm, "fyl2x")
LOOP(logarithm_near_one, "fyl2xp1")
LOOP(angle, "fpatan")

/* As above, of points `first` + i · 1/64 with derivative 1 and `second` + i · `step`, with derivative `factor`. */
#define SUM_OF(name, function, first, second, step, factor, slope)                                \
    do {                                                                                          \
        real xs[ROUNDS], ys[ROUNDS];                                                              \
        wide slopes = 0;                                                                          \
        for (int i = 0; i < ROUNDS; i++) {                                                        \
            const wide x = (first) + i * 0.015625L, y = (second) + i * (step);                    \
            xs[i] = (real)x + shift;                                                              \
            ys[i] = (real)y + (factor) * shift;                                                   \
            slopes += (slope);                                                                    \
        }                                                                                         \
        check(name, function(xs, ys), slopes);                                                    \
    } while (0)

static void checks(void)
{
    SUM_OF("sine", sine, -0.75L, 0, 1, 1, cosl(x));
    SUM_OF("cosine", cosine, 0.25L, 0, 1, 1, -sinl(x));
    SUM_OF("both", both, 0.25L, 0, 1, 0, cosl(2 * x));
    SUM_OF("tangent", tangent, -0.5L, 0, 1, 1, 1 / (cosl(x) * cosl(x)));
    SUM_OF("power", power, 0.125L, 0, 1, 1, M_LN2l * exp2l(x));
    SUM_OF("scaled", scaled, 0.5L, -7.75L, 0.25L, 0, exp2l(truncl(y)));
    SUM_OF("rest", rest, 100.3L, 7.1L, 0.01L, 1, 1 - truncl(x / y));
    SUM_OF("nearest_rest", nearest_rest, 100.3L, 7.1L, 0.01L, 1, 1 - rintl(x / y));
    SUM_OF("logarithm", logarithm, 0.75L, 0.5L, 0.1L, 1, log2l(x) + y / (x * M_LN2l));
    SUM_OF("logarithm_near_one", logarithm_near_one, -0.25L, 0.5L, 0.1L, 1,
        log1pl(x) / M_LN2l + y / ((1 + x) * M_LN2l));
    SUM_OF("angle", angle, 0.75L, 0.5L, 0.1L, 2, (2 * x - y) / (x * x + y * y));
    SUM_OF("sine_out_of_range^", sine, 0x1p64L, 0, 1, 1, 1);
    SUM_OF("cosine_out_of_range^", cosine, -0x1p64L, 0, 1, 1, 1);
}
