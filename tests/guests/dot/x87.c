// The x87 stack as compilers and people use it: formats, exchanges, conditions, constants, deep stacks, tops that are not constant.
#include "check.h"

#define ASM __asm__ volatile
#define ALL "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "memory"

/* Operands in memory of every format: only those of 4 and 8 bytes can be multiplied with. */
static void formats(void)
{
    float f = 1.5f + (float)shift;
    double d = 1.25 + (double)shift;
    real e = at(0.75), r;
    short s = 3;
    int i = 5;
    long l = 7;
    ASM("fldt %1; fmuls %2; fstpt %0" : "=m"(r) : "m"(e), "m"(f) : ALL);
    check("product-float^", r, 0.75L + 1.5L);
    ASM("fldt %1; fmull %2; fsubl %2; fstpt %0" : "=m"(r) : "m"(e), "m"(d) : ALL);
    check("product-double", r, 0.75L + 1.25L - 1);
    ASM("flds %1; fldl %2; fdivp; fstpt %0" : "=m"(r) : "m"(f), "m"(d) : ALL);
    check("quotient^", r, (1.5L - 1.25L) / (1.5L * 1.5L));
    ASM("fldt %1; fiadds %2; fimull %3; fstpt %0" : "=m"(r) : "m"(e), "m"(s), "m"(i) : ALL);
    check("integers", r, 5);
    ASM("fildq %2; fldt %1; fsubrp; fstpt %0" : "=m"(r) : "m"(e), "m"(l) : ALL);
    check("integer-less", r, -1);
    ASM("fldt %1; fiaddl %2; fisubrl %2; fstpt %0" : "=m"(r) : "m"(e), "m"(i) : ALL);
    check("integer-reversed", r, -1);
    ASM("fldt %1; fisubl %2; fidivl %2; fstpt %0" : "=m"(r) : "m"(e), "m"(i) : ALL);
    check("integer-divisor", r, 0.2L);
    ASM("fldt %1; fidivrl %2; fstpt %0" : "=m"(r) : "m"(e), "m"(i) : ALL);
    check("integer-dividend", r, -5 / (0.75L * 0.75L));
    ASM("fldt %2; fistl %0; fistps %1" : "=m"(i), "=m"(s) : "m"(e) : ALL);
    check("integers-of-it^", r * 0 + i + s, 0);
    ASM("fldt %1; fsts %0; fstp %%st(0)" : "=m"(f) : "m"(e) : ALL);
    check("narrowed^", f, 1);
    ASM("fldt %1; fmul %%st(0), %%st; fstpl %0" : "=m"(d) : "m"(e) : ALL);
    check("square", d, 1.5L);
}

static void one_operand(void)
{
    for (int n = 0; n < 4; n++) {
        real x = at((wide)(n * n) - 2.5L), r, sign = n < 2 ? -1 : 1;
        ASM("fchs" : "=t"(r) : "0"(x));
        check("negative", r, -1);
        ASM("fabs" : "=t"(r) : "0"(x));
        check("magnitude", r, sign);
        ASM("fabs; fsqrt" : "=t"(r) : "0"(x));
        check("root", r, sign / (2 * W(sqrt)(W(fabs)((wide)x))));
        ASM("frndint" : "=t"(r) : "0"(x));
        check("rounded^", r, 0);
    }
}

/* A function in a loop, of arguments beyond the first quadrant: libraries reduce these with SSE, and exceptions of its own. */
static void reduced(void)
{
    real v[64], sum = 0;
    wide w[64], derivative = 0;
    for (int i = 0; i < 64; i++) v[i] = at(0.125 * i + 0.625), w[i] = 0.125L * i + 0.625L;
    for (int i = 0; i < 64; i++) sum = (real)0.5 * sum + M(sin)(v[i]) * v[63 - i];
    for (int i = 0; i < 64; i++) derivative = 0.5L * derivative + W(cos)(w[i]) * w[63 - i] + W(sin)(w[i]);
    check("reduced~8", sum, derivative);
}

/* Registers that are exchanged, copied, moved under a condition, and deep in the stack. */
static void registers(void)
{
    real a = at(2), b = at(3), r, q;
    ASM("fldt %1; fldt %2; fxch; fdivp; fstpt %0" : "=m"(r) : "m"(a), "m"(b) : ALL);
    check("exchanged", r, (3 - 2) / 9.0L);
    ASM("fldt %1; fld %%st(0); fmul %%st(1); fmulp; fstpt %0" : "=m"(r) : "m"(a) : ALL);
    check("cube", r, 12);
    ASM("fld1; fldpi; fldt %1; fldt %2; fxch %%st(3); fmulp; fst %%st(1); faddp; faddp; fstpt %0"
        : "=m"(r) : "m"(a), "m"(b) : ALL);
    check("mixed", r, 3);
    for (int n = 0; n < 3; n++) {
        int which = n;
        ASM("fldt %2; fldt %3; cmpl $1, %4; fcmovb %%st(1), %%st; fstpt %0; fstpt %1"
            : "=m"(r), "=m"(q) : "m"(a), "m"(b), "r"(which) : "cc", ALL);
        check("moved", r * r, n < 1 ? 4 : 6);
        ASM("fldt %2; fldt %3; cmpl $1, %4; fcmovne %%st(1), %%st; fstpt %0; fstpt %1"
            : "=m"(r), "=m"(q) : "m"(a), "m"(b), "r"(which) : "cc", ALL);
        check("moved-unequal", r * r, n == 1 ? 6 : 4);
    }
    ASM("fldt %1; fld %%st(0); fld %%st(0); fld %%st(0); fld %%st(0); fld %%st(0); fld %%st(0); fld %%st(0);"
        "fmulp; fmulp; fmulp; fmulp; fmulp; fmulp; fmulp; fstpt %0" : "=m"(r) : "m"(a) : ALL);
    check("eighth-power", r, 1024);
    ASM("fldt %1; fldt %2; ffree %%st(1); fincstp; fdecstp; fmul %%st(0); fstpt %0; fincstp" : "=m"(r) : "m"(a), "m"(b) : ALL);
    check("freed", r, 6);
}

/* What is no normal double is looked at by the engine; products with zero; integers in place of sign and exponent. */
static void extremes(void)
{
    /* As a double below the normal ones, and its reciprocal, which a tape has for the quotient, still finite. */
    real tiny = 1e-308L, x = at(0), r = 0;
    check("zero-times", x * x + at(0) * 3, 3);
    check("tiny", (at(1) * tiny) / tiny, 1);
    volatile real zero = 0;
    check("zero-plus", zero * at(1) + at(2), 1);
    union { real r; struct { uint64_t digits; uint16_t end; } s; } u;
    u.r = at(1.5);
    u.s.end ^= 0x8000;
    check("sign-turned", u.r, -1);
    real turned = u.r * u.r;
    check("sign-turned-square", turned, 3);
    for (int n = 0; n < 40; n++) r = (r + at(0.5)) * at(0.5L);
    wide value = 0, slope = 0;
    for (int n = 0; n < 40; n++) slope = (slope + 1) * 0.5L + (value + 0.5L), value = (value + 0.5L) * 0.5L;
    check("recurrence~8", r, slope);
}

/* 1.5·2^63 rounds what it is added to. */
static void magic(void)
{
    volatile real magic = 0x1.8p63L;
    real x = at(2.75);
    real whole = x + magic;
    whole -= magic;
    check("magic^", whole, 0);
    check("magic-left", (x + magic) * 0x1p-62L - magic * 0x1p-62L + x, 1);
}

/* Precision and rounding are the guest's. */
static void control(void)
{
    unsigned short old, mode;
    ASM("fnstcw %0" : "=m"(old));
    for (int n = 0; n < 4; n++) {
        mode = (unsigned short)((old & ~0xf00) | n << 10 | (n == 1 ? 0 : n == 2 ? 0x200 : 0x300));
        real x = at(1.5), r = 2;
        ASM("fldcw %0" : : "m"(mode));
        ASM("fmul %%st(1), %%st; fdivrp" : "=t"(r) : "0"(x), "u"(r) : "st(1)");
        ASM("fldcw %0" : : "m"(old));
        check("control", r < 1, 0);
        check("control-quotient", (real)(double)x * x, 3);
    }
}

static __attribute__((noinline)) real square(real x) { return x * x; }

/* Each level leaves a register on the stack: the top is another each time. */
static __attribute__((noinline)) real leaves(int depth, real x)
{
    if (depth == 0) return square(x);
    return leaves(depth - 1, x) * x + square(x) / depth;
}

static void tops(void)
{
    real r, a = at(1.5);
    for (int n = 0; n < 3; n++) {
        wide value = 1.5L * 1.5L, slope = 3;
        for (int depth = 1; depth <= n; depth++)
            slope = slope * 1.5L + value + 3.0L / depth, value = value * 1.5L + 2.25L / depth;
        check("recursive", leaves(n, a), slope);
    }
    /* A loop that leaves a register more on the stack at each turn. */
    ASM("fld1; movl $6, %%ecx; 1: fld %%st(0); fmull %2; decl %%ecx; jnz 1b;"
        "fstpt %0; movl $6, %%ecx; 2: fstp %%st(0); decl %%ecx; jnz 2b"
        : "=m"(r) : "m"(a), "m"((double){1.5 + (double)shift}) : "ecx", "cc", ALL);
    check("growing", r, 6 * W(pow)(1.5L, 5));
    ASM("fldt %1; fninit; fldt %1; fmul %%st(0); fstpt %0" : "=m"(r) : "m"(a) : ALL);
    check("reset", r, 3);
    ASM("movq %1, %%mm1; paddd %%mm1, %%mm1; emms; fldt %2; fmul %%st(0); fstpt %0" : "=m"(r) : "m"((double){1}), "m"(a) : ALL);
    check("after-mmx", r, 3);
}

/* Registers that are empty give NaN where they are read, and stay empty. */
static void empties(void)
{
    struct { uint32_t control, status, tags, rest[4]; } before, after;
    real a = at(1.5), r;
    ASM("fninit; fldt %3; fnstenv %1; fmul %%st(2); fnstenv %2; fninit; fldt %3; fstpt %0"
        : "=m"(r), "=m"(before), "=m"(after) : "m"(a) : ALL);
    check("empty-factor", r * ((before.tags | 0xc000) == (after.tags | 0xc000)), 1);
    ASM("fninit; fldt %3; fdecstp; fnstenv %1; fmul %%st, %%st(1); fnstenv %2; fninit; fldt %3; fstpt %0"
        : "=m"(r), "=m"(before), "=m"(after) : "m"(a) : ALL);
    check("empty-top", r * ((before.tags | 0xc000) == (after.tags | 0xc000)), 1);
    ASM("fninit; fldt %2; fldt %2; fmulp; fldz; fstp %%st(0); fdecstp; fnstenv %1; fninit; fldt %2; fstpt %0"
        : "=m"(r), "=m"(after) : "m"(a) : ALL);
    check("popped", r * ((after.tags & 0xffff) != 0xffff), 1);
}

/* MXCSR is the program's wherever it looks, also after loops on the stack that leave it to rules. */
static void flags(void)
{
    real a = at(1.1), r = 0;
    double d = 1.5 + (double)shift;
    unsigned before, after, computed;
    for (int turn = 0; turn < 300; turn++) {
        unsigned clear = 0x1f80;
        double exact = d, third = d;
        ASM("ldmxcsr %0" : : "m"(clear));
        r = 0;
        for (int n = 0; n < 20; n++) r = (r + a) * a;
        ASM("stmxcsr %0; addsd %2, %2; stmxcsr %1" : "=m"(before), "=m"(after), "+x"(exact));
        for (int n = 0; n < 3; n++) r = r * a;
        ASM("divsd %2, %0; stmxcsr %1" : "+x"(third), "=m"(computed) : "x"(exact + 0.1));
        if (before & 0x3f || after & 0x3f || !(computed & 0x20)) break;
        if (turn == 299) check("flags-kept", exact, 2);
    }
}

static void conditions(void)
{
    real x = at(3), r = 0;
    int turns = 0;
    while (x > 0.01L) x = x / at(2), turns++;
    check("halved~4", x, 1 / W(pow)(2, turns) - 3 * turns / W(pow)(2, turns + 1));
    unsigned short status;
    ASM("fldt %1; fcoml %2; fnstsw %0; fstp %%st(0)" : "=a"(status) : "m"(x), "m"((double){1}) : ALL);
    check("compared", (status & 0x100) ? x : r, 1 / W(pow)(2, turns) - 3 * turns / W(pow)(2, turns + 1));
    ASM("fldt %1; ftst; fnstsw %0; fstp %%st(0)" : "=a"(status) : "m"(x) : ALL);
    check("tested^", (status & 0x4500) ? 1 : 0, 0);
}

static void checks(void)
{
    formats(), one_operand(), reduced(), registers(), extremes(), magic(), control(), tops(), conditions(), empties(), flags();
}
