// Bits of a float as a wider integer and back: its sign is copied above it, where nothing is kept.
//@ float: the bits of a double have no wider register
#include "check.h"

#define WIDENED(name, widen, registers)                                              \
    static float name(float x)                                                       \
    {                                                                                \
        float result;                                                                \
        __asm__ volatile(widen : "=x"(result) : "x"(x) : registers, "memory", "cc"); \
        return result;                                                               \
    }

WIDENED(in_accumulator, "movd %1, %%eax\n\tcltq\n\tmovd %%eax, %0", "rax")
WIDENED(between_registers, "movd %1, %%ecx\n\tmovslq %%ecx, %%rdx\n\tmovd %%edx, %0", "rcx")
WIDENED(stored, "movd %1, %%eax\n\tcltq\n\tmovq %%rax, -64(%%rsp)\n\tmovss -64(%%rsp), %0", "rax")
/* What is kept beside the upper half of the wide lane is nothing: as a float that half has no derivative. */
WIDENED(above, "movss %1, -64(%%rsp)\n\tmovslq -64(%%rsp), %%rax\n\tshrq $32, %%rax\n\tmovd %%eax, %0", "rax")
WIDENED(lane, "pmovsxdq %1, %0", "xmm15")
WIDENED(from_memory, "movss %1, -64(%%rsp)\n\tmovl $0, -60(%%rsp)\n\tpmovsxdq -64(%%rsp), %0", "xmm15")
WIDENED(upper_half, "pmovsxdq %1, %0\n\tpshufd $1, %0, %0", "xmm15")
#ifdef __AVX2__
WIDENED(wide_lane, "vpermilps $0, %1, %0\n\tvpmovsxdq %0, %%ymm15\n\tvextracti128 $1, %%ymm15, %0\n\tvzeroupper", "xmm15")
#endif

/* All ones above a negative float are a NaN. */
static float is_negative(float nan) { return nan != nan; }

static void checks(void)
{
    AT("in-accumulator", in_accumulator(3 * x), 3, 1.5, -0.375);
    AT("between-registers", between_registers(3 * x), 3, 1.5, -0.375);
    AT("stored", stored(3 * x), 3, 1.5, -0.375);
    AT("above^", is_negative(above(x)), 0, 1.5, -0.375);
    AT("lane", lane(3 * x), 3, 1.5, -0.375);
    AT("from-memory", from_memory(3 * x), 3, 1.5, -0.375);
    AT("upper-half^", is_negative(upper_half(x)), 0, 1.5, -0.375);
#ifdef __AVX2__
    AT("wide-lane", wide_lane(3 * x), 3, 1.5, -0.375);
#endif
}
