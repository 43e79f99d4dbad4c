// A float with a derivative and an error, whose bytes become text, a digit of each half, and are put together again.
#include <stdio.h>

double x = 2.7;

static void halve(const void *from, unsigned char *to)
{
    const unsigned char *bytes = from;
    for (int i = 0; i < 8; i++) {
        to[2 * i] = bytes[i] >> 4;
        to[2 * i + 1] = bytes[i] & 15;
    }
}

static void join(const unsigned char *from, void *to)
{
    unsigned char *bytes = to;
    for (int i = 0; i < 8; i++)
        bytes[i] = from[2 * i] << 4 | from[2 * i + 1];
}

int main(void)
{
    double y = (x * x / 3 + 1e9) - 1e9, z;
    volatile unsigned char digits[16];
    halve(&y, (unsigned char *)digits);
    join((unsigned char *)digits, &z);
    printf("%.17g\n", z);
}
