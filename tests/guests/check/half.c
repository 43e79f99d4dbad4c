// A float that goes through a half-precision one in integer arithmetic: its derivative is lost on the way.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

float x = 1.7f;

static uint16_t half_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint32_t rounded = bits + 0x1000;
    return (uint16_t)((rounded >> 16 & 0x8000) | (((rounded >> 23 & 0xff) - 112) << 10) | (rounded >> 13 & 0x3ff)); // PARTS
}

static float float_of(uint16_t half)
{
    uint32_t exponent = (half >> 10 & 0x1f) + 112;
    uint32_t bits = (uint32_t)(half & 0x8000) << 16 | exponent << 23 | (uint32_t)(half & 0x3ff) << 13;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

int main(void)
{
    uint16_t half = half_of(x * x);
    __asm__ volatile("" : "+r"(half));
    printf("%.9g\n", float_of(half) * 3);
    return 0;
}
