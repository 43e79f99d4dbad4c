// Digits of floats are compared with numbers as integers, and code goes on with a constant where they are equal: once in each function
// of three calls, but in those whose names say that nothing is found, or that it is not asked.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1;

static uint64_t bits(double value)
{
    uint64_t digits;
    memcpy(&digits, &value, sizeof digits);
    return digits;
}

static uint32_t bits_of_float(float value)
{
    uint32_t digits;
    memcpy(&digits, &value, sizeof digits);
    return digits;
}

#define ONE UINT64_C(0x3ff0000000000000)
#define TWO UINT64_C(0x4000000000000000)

__attribute__((noinline)) static double whole(double a) { return bits(a) == ONE ? 0 : (a - 1) * a; }

__attribute__((noinline)) static double two_at_once(double a, double b) { return bits(a) == bits(b) ? 0 : a - b; }

__attribute__((noinline)) static double upper(double a) { return bits(a) >> 32 == ONE >> 32 ? 0 : (a - 1) * a; }

__attribute__((noinline)) static double zero(double a) { return bits(a) == 0 ? 0 : 3 * a; }

__attribute__((noinline)) static float narrow(float a) { return bits_of_float(a) == 0x3f800000 ? 0 : (a - 1) * a; }

__attribute__((noinline)) static double in_memory(volatile double *a)
{
    return *(volatile uint64_t *)a == ONE ? 0 : (*a - 1) * *a;
}

__attribute__((noinline)) static double not_found(double a) { return bits(a) == ONE + 1 ? 0 : a; }

__attribute__((noinline)) static double not_asked(double a) { return bits(a) < TWO ? a : -a; }

__attribute__((noinline)) static double inactive(double a) { return bits(a) == ONE ? 1 : a; }

int main(void)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double a = x + i, constant = 1 + 2 * i;
        volatile double there = a;
        sum += whole(a) + two_at_once(a, constant) + upper(a) + zero(a - 1) + narrow((float)a);
        sum += in_memory(&there) + not_found(a) + not_asked(a) + inactive(constant);
    }
    printf("%g\n", sum);
    return 0;
}
