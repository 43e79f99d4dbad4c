// Atomic exchanges of floats with derivatives, by one thread; and a load in front of what fills the space before a loop.
//@ double only: the moves are 64 bits wide, but for one
#include "check.h"

/* What is loaded is named as an address by what does nothing, and is a float all the same. */
static double padded(double x)
{
    double result;
    __asm__ volatile("movq %1, %%rax\n\tnopw 0(%%rax,%%rax,1)\n\tmovq %%rax, %0" : "=x"(result) : "m"(x) : "rax");
    return result;
}

static double added_often(double x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        __asm__ volatile("movq %0, %%rax\n\tnopw 0(%%rax,%%rax,1)\n"
                         "1:\tmovq %%rax, %%xmm0\n\taddsd %1, %%xmm0\n\tmovq %%xmm0, %%rdx\n\tlock cmpxchgq %%rdx, %0\n\tjne 1b"
                         : "+m"(sum)
                         : "x"(x)
                         : "rax", "rdx", "xmm0", "cc", "memory");
    return sum;
}

static float added_narrow(float x, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        __asm__ volatile("movl %0, %%eax\n"
                         "1:\tmovd %%eax, %%xmm0\n\taddss %1, %%xmm0\n\tmovd %%xmm0, %%edx\n\tlock cmpxchgl %%edx, %0\n\tjne 1b"
                         : "+m"(sum)
                         : "x"(x)
                         : "rax", "rdx", "xmm0", "cc", "memory");
    return sum;
}

/* Another value with the same derivative is expected: what is there is found, with its derivative, and stays. */
static double refused(double x)
{
    double place = x, expected = x + 1, found;
    __asm__ volatile("movq %2, %%rax\n\tmovq %3, %%rdx\n\tlock cmpxchgq %%rdx, %0\n\tmovq %%rax, %1"
                     : "+m"(place), "=x"(found)
                     : "x"(expected), "x"(5 * x)
                     : "rax", "rdx", "cc", "memory");
    return found + 10 * place;
}

/* Neither what is expected nor what is there has a derivative, and what is put there has. */
static double refused_without(double x)
{
    double place = 1.5, expected = 2.5, found;
    __asm__ volatile("movq %2, %%rax\n\tmovq %3, %%rdx\n\tlock cmpxchgq %%rdx, %0\n\tmovq %%rax, %1"
                     : "+m"(place), "=x"(found)
                     : "x"(expected), "x"(5 * x)
                     : "rax", "rdx", "cc", "memory");
    return found + 10 * place + x;
}

/* A number without a derivative is put where there was one. */
static double replaced(double x)
{
    double place = x, found;
    __asm__ volatile("movq %2, %%rax\n\tmovq %3, %%rdx\n\tlock cmpxchgq %%rdx, %0\n\tmovq %%rax, %1"
                     : "+m"(place), "=x"(found)
                     : "x"(x), "x"(7.0)
                     : "rax", "rdx", "cc", "memory");
    return found + 10 * place;
}

/* The registers of the address are those that are exchanged. */
static double exchanged_at(double x)
{
    double place = 3 * x, found;
    __asm__ volatile("movq %2, %%rax\n\txchgq %%rax, (%%rax)\n\tmovq %%rax, %1" : "+m"(place), "=x"(found) : "r"(&place) : "rax", "memory");
    return found;
}

/* What was there has none, and gets one by turns. */
static double by_turns(double x, int n)
{
    double place = 2.5, held = x, result = 0;
    for (int i = 0; i < n; i++) {
        __asm__ volatile("movq %0, %%rcx\n\txchgq %%rcx, %1\n\tmovq %%rcx, %0" : "+x"(held), "+m"(place) : : "rcx", "memory");
        result += held;
    }
    return result;
}

static void checks(void)
{
    AT("padded", padded(x), 1, 0.75, -2.5);
    AT("added-often", added_often(x, 1000), 1000, 0.75, -2.5);
    AT("added-narrow^", added_narrow((float)x, 100), 100, 0.75, -2.5);
    AT("refused", refused(x), 11, 0.75, -2.5);
    AT("refused-without", refused_without(x), 1, 0.75, -2.5);
    AT("replaced", replaced(x), 1, 0.75, -2.5);
    AT("exchanged-at", exchanged_at(x), 3, 0.75, -2.5);
    AT("by-turns", by_turns(x, 1001), 500, 0.75, -2.5);
}
