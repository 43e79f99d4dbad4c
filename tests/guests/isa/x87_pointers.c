// fnstenv, fnsave, fxsave and xsave give the address of the last x87 instruction: the program's own.
#include "guest.h"

extern const char last_instruction[], last_instruction_2[];
static double operand = 2.5;

int main(void)
{
    unsigned char environment[28];
    static unsigned char state[512] __attribute__((aligned(16)));
    uint64_t result;
    __asm__ volatile("fninit\n fld1\n"
                     ".globl last_instruction\n"
                     "last_instruction: faddl %2\n"
                     "nop\n jmp 1f\n 1:\n"
                     "fnstenv %0\n fstpl %1\n"
                     : "=m"(environment), "=m"(result) : "m"(operand));
    // Not every CPU keeps the pointers unless an exception is pending; a kept one must be the program's.
    uint32_t low;
    memcpy(&low, environment + 12, 4);
    CHECK(low == 0 || low == (uint32_t)(uintptr_t)last_instruction);
    __asm__ volatile("fninit\n fldz\n fld1\n"
                     ".globl last_instruction_2\n"
                     "last_instruction_2: fdivp\n"
                     "fxsave64 %0\n fninit\n"
                     : "=m"(state));
    uint64_t pointer;
    memcpy(&pointer, state + 8, 8);
    CHECK(pointer == 0 || pointer == (uint64_t)last_instruction_2);
    // An unmasked exception is pending: here the pointer is kept by all.
    unsigned short control = 0x37b;
    __asm__ volatile("fninit\n fld1\n fldz\n fldcw %1\n"
                     "1: fdivrp %%st, %%st(1)\n"
                     "fxsave64 %0\n fnclex\n fninit\n"
                     "lea 1b(%%rip), %%rax\n mov %%rax, %2\n"
                     : "=m"(state), "+m"(control), "=m"(result) : : "rax");
    memcpy(&pointer, state + 8, 8);
    printf("%s\n", pointer == result ? "own address" : pointer == 0 ? "zero" : "foreign address");
    return 0;
}
