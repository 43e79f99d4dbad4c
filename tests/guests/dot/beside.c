// Integers stored just before floats with derivatives, so often that nobody looks any more, and then parts of floats by the same instructions.
#include "check.h"

/* Not known to the compiler: each call is one. */
#define KEPT static __attribute__((noinline, noipa))
#define ROWS 100

typedef struct {
    int count, number;
    real value;
} row;

static row rows[ROWS];

KEPT void set(int *at, int to) { *at = to; }
KEPT void set_short(int16_t *at, int to) { *at = (int16_t)to; }
KEPT void set_byte(int8_t *at, int to) { *at = (int8_t)to; }
KEPT void set_constant(int *at) { *at = 3 << 20; }
/* Flags are live across the store. */
KEPT int set_if_odd(int *at, int to)
{
    int carried = 0;
    __asm__ volatile("btl $0, %2\n\tmovl %2, (%1)\n\tadcl $0, %0" : "+r"(carried) : "r"(at), "r"(to) : "cc", "memory");
    return carried;
}
/* The address is in the register that annotations spill. */
KEPT void set_at_rcx(int *at, int to)
{
    __asm__ volatile("movl %1, (%0)" : : "c"(at), "d"(to) : "memory");
}
static int high(const double *x) { return ((const int *)x)[1]; }

static double all_beside(double x)
{
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        rows[i].value = x * i;
        set(&rows[i].number, i);
        set_short((int16_t *)&rows[i].number, i);
        set_byte((int8_t *)&rows[i].number, i);
        set_constant(&rows[i].number);
        set_at_rcx(&rows[i].number, i);
        sum += set_if_odd(&rows[i].number, i) + rows[i].number + rows[i].value;
    }
    return sum;
}
static double scaled(double x)
{
    set(((int *)&x) + 1, high(&x) + (3 << 20));
    return x * 2;
}
static double scaled_at_rcx(double x)
{
    set_at_rcx(((int *)&x) + 1, high(&x) - (2 << 20));
    return x * 2;
}
static double turned(double x)
{
    set_if_odd(((int *)&x) + 1, high(&x) ^ INT32_MIN);
    return x * 2;
}
static double with_other_digits(double x)
{
    set((int *)&x, 0x1234567);
    set_short((int16_t *)&x, 0x89a);
    set_byte((int8_t *)&x, 0xb);
    return x * 2;
}
static void checks(void)
{
    for (int i = 0; i < 3; i++) {
        AT("all-beside", all_beside(1.1 * x), 1.1L * (ROWS * (ROWS - 1) / 2), 1.7, -3.3);
        AT("scaled", scaled(1.1 * x), 17.6L, 1.7, -3.3);
        AT("scaled-at-rcx", scaled_at_rcx(x), 0.5L, 1.7, -3.3);
        AT("turned", turned(1.1 * x), -2.2L, 1.7, -3.3);
        AT("with-other-digits^", with_other_digits(1.1 * x), 2.2L, 1.7, -3.3);
    }
}
