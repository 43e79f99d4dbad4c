// Upper parts of floats with derivatives replaced by constants: nothing is left of the number, and each is counted.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.7;

/* Not known to the compiler: each call is one. */
#define KEPT __attribute__((noinline, noipa))

static KEPT double high_half(double value)
{
    uint32_t high = 0x40290000;
    memcpy((char *)&value + 4, &high, sizeof high);
    return value * 2;
}

static KEPT double high_word(double value)
{
    uint16_t high = 0x4020;
    memcpy((char *)&value + 6, &high, sizeof high);
    return value * 2;
}

static KEPT float high_word_of_float(float value)
{
    uint16_t high = 0x4040;
    memcpy((char *)&value + 2, &high, sizeof high);
    return value * 2;
}

int main(void)
{
    double sum = 0;
    /* The derivative is short or long. */
    for (int i = 0; i < 10; i++) {
        sum += high_half(x) + high_half(1.1 * x);
        sum += high_word(x) + high_word(1.1 * x);
        sum += high_word_of_float((float)x) + high_word_of_float((float)(1.1 * x));
    }
    printf("%.17g %.17g\n", sum, x * x);
    return 0;
}
