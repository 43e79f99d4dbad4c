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
    __asm__ volatile("btl $0, %2\n\tmovl %2, (%1)\n\tadcl $0, %0"
                     : "+r"(carried)
                     : "r"(at), "r"(to)
                     : "cc", "memory");
    return carried;
}
/* The address is in the register that annotations spill. */
KEPT void set_at_rcx(int *at, int to)
{
    __asm__ volatile("movl %1, (%0)" : : "c"(at), "d"(to) : "memory");
}
KEPT void fill(int *at, int count, int with)
{
    for (volatile int i = 0; i < count; i++) at[i] = with + i;
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
/* All of the first doubles is put there, and half of the last. */
static double filled(double x)
{
    double values[ROWS], sum = 0;
    for (int i = 0; i < ROWS; i++) values[i] = x * i;
    fill((int *)values, 2 * ROWS - 21, 5);
    for (int i = 0; i < ROWS; i++) sum += values[i];
    return sum;
}
/* Numbers with and without derivatives in turn, over others with derivatives, by words. */
KEPT void copy(int *to, const int *from, int count)
{
    for (volatile int i = 0; i < count; i++) to[i] = from[i];
}
static double copied(double x)
{
    double from[ROWS], to[ROWS], sum = 0;
    for (int i = 0; i < ROWS; i++) from[i] = i / 20 % 2 ? x * i : i, to[i] = x / (i + 1);
    copy((int *)to, (const int *)from, 2 * ROWS);
    for (int i = 0; i < ROWS; i++) sum += to[i];
    return sum;
}
/* Where a number was, one function has integers and another puts a part into a number. */
KEPT double number_in_frame(double x)
{
    volatile double kept[2] = {x, 2 * x};
    return kept[1] - kept[0];
}
KEPT double integers_in_frame(int n)
{
    volatile int kept[4] = {n, 2, 3, n};
    return kept[0] + kept[1] + kept[2] + kept[3];
}
KEPT double part_in_frame(double x, int to)
{
    volatile union {
        double d;
        int w[2];
    } kept[2] = {{x}, {x}};
    kept[1].w[1] = to;
    return kept[0].d + kept[1].d;
}
static double in_frames(double x)
{
    double sum = 0;
    for (int i = 0; i < ROWS; i++)
        sum += number_in_frame(x) + integers_in_frame(i) + part_in_frame(x, high(&x) + (1 << 20));
    return sum;
}
static void checks(void)
{
    for (int i = 0; i < 3; i++) {
        AT("all-beside", all_beside(1.1 * x), 1.1L * (ROWS * (ROWS - 1) / 2), 1.7, -3.3);
        AT("scaled", scaled(1.1 * x), 17.6L, 1.7, -3.3);
        AT("scaled-at-rcx", scaled_at_rcx(x), 0.5L, 1.7, -3.3);
        AT("turned", turned(1.1 * x), -2.2L, 1.7, -3.3);
        AT("with-other-digits^", with_other_digits(1.1 * x), 2.2L, 1.7, -3.3);
        AT("filled~1000^", filled(1.1 * x), 1.1L * (ROWS * (ROWS - 1) / 2 - (ROWS - 11) * (ROWS - 12) / 2), 1.7, -3.3);
        AT("copied", copied(1.1 * x), 1.1L * (20 * (29.5L + 69.5L)), 1.7, -3.3);
        AT("in-frames", in_frames(1.1 * x), 4.4L * ROWS, 1.7, -3.3);
    }
}
