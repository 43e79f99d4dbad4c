// Digits in general registers that are compared, and that nobody has afterwards; and the same ones of which an integer is made.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.7;

#define KEPT __attribute__((noinline, noipa))

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The sign goes, and what is left is compared, by a shift, a sum and a sum that is an address. */
static KEPT int is_large(double value)
{
    uint64_t bits = bits_of(value);
    __asm__ volatile("shl $1, %0" : "+r"(bits) : : "cc");
    return bits > UINT64_C(0x7ff0000000000000);
}

static KEPT int is_infinite(double value)
{
    uint64_t bits = bits_of(value);
    __asm__ volatile("add %0, %0" : "+r"(bits) : : "cc");
    if (bits - 1 >= UINT64_C(0xffe0000000000000)) return 2;
    return 1;
}

static KEPT const char *size_of(double value)
{
    uint64_t bits = bits_of(value);
    __asm__ volatile("lea (%0,%0), %0" : "+r"(bits));
    return bits < UINT64_C(0x7fe0000000000000) ? "small" : bits < UINT64_C(0x8020000000000000) ? "one" : "large";
}

static KEPT uint64_t digits_of(double value)
{
    uint64_t bits = bits_of(value);
    __asm__ volatile("shl $1, %0" : "+r"(bits) : : "cc"); // LOST
    return bits;
}

int main(void)
{
    int count = 0;
    for (int n = 0; n < 200; n++) {
        const double value = x * (n + 1) / 100;
        count += is_large(value) + is_infinite(value) + (*size_of(value) == 'l');
    }
    printf("%d %.17g %d\n", count, x * x, digits_of(x) == 0);
    return 0;
}
