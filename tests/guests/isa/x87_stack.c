// The x87 register stack: top, tags, exchanges, conditional moves, overflow and underflow of the stack.
#include "guest.h"

static void status_and_tags(unsigned short *status, unsigned short *tags)
{
    unsigned char environment[28];
    __asm__ volatile("fnstenv %0\n fldenv %0" : "=m"(environment));
    memcpy(status, environment + 4, 2);
    memcpy(tags, environment + 8, 2);
}

static void report(const char *what)
{
    unsigned short status, tags;
    status_and_tags(&status, &tags);
    printf("%-10s status %04x tags %04x\n", what, status, tags);
}

static void moves(void)
{
    double a, b;
    __asm__ volatile("fninit\n fld1\n fldz\n fldpi\n"
                     "fxch %%st(2)\n fincstp\n fdecstp\n"
                     "cmp %%eax, %%eax\n fcmove %%st(1), %%st\n fcmovne %%st(2), %%st\n"
                     "fadd %%st, %%st(1)\n faddp\n fsubrp\n fstpl %0\n fld1\n fldpi\n fdivp\n fstpl %1\n"
                     : "=m"(a), "=m"(b) : : "cc", "st", "st(1)", "st(2)");
    printf("%.17g %.17g\n", a, b);
}

/* What is left in registers that are read though they are empty, and popped. */
static void emptied(void)
{
    static unsigned char state[512] __attribute__((aligned(16)));
    static const double doubled = 2.5;
    __asm__ volatile("fninit\n .rept 4\n fldpi\n fld1\n .endr\n fninit\n jmp 1f\n"
                     "1: fcomp %%st(3)\n jmp 2f\n 2: fcompl %1\n jmp 3f\n 3: fucompp\n jmp 4f\n"
                     "4: fucomip %%st(2)\n fld1\n fldl %1\n ffreep %%st(1)\n fcomp %%st(1)\n fxsave %0\n fninit"
                     : "=m"(state) : "m"(doubled) : "cc");
    for (int i = 0; i < 8; i++) {
        unsigned long long significand;
        unsigned short end;
        memcpy(&significand, state + 32 + 16 * i, 8);
        memcpy(&end, state + 40 + 16 * i, 2);
        printf("%04x%016llx\n", end, significand);
    }
}

int main(void)
{
    __asm__ volatile("fninit");
    report("empty");
    __asm__ volatile("fninit\n .rept 8\n fld1\n .endr");
    report("full");
    __asm__ volatile("fninit\n .rept 9\n fld1\n .endr");
    report("overflow");
    __asm__ volatile("fninit\n fstp %st(0)");
    report("underflow");
    __asm__ volatile("fninit\n fldz\n fld1\n ffree %st(1)");
    report("freed");
    __asm__ volatile("fninit");
    moves();
    emptied();
    report("end");
    unsigned char state[108];
    __asm__ volatile("fninit\n fldpi\n fld1\n fnsave %0\n" : "=m"(state));
    report("saved");
    double one, pi;
    __asm__ volatile("frstor %2\n fstpl %0\n fstpl %1" : "=m"(one), "=m"(pi) : "m"(state));
    printf("%g %.17g\n", one, pi);
    return 0;
}
