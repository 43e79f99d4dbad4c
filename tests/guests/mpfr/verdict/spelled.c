// A wrong number is written as the hexadecimal digits of its bits, and read again: its real is lost on the way.
// HIDDEN 16
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
volatile double part = 0.1;
int main(void)
{
    volatile double sum = 0;
    double again, wrong;
    uint64_t bits;
    char text[20];
    for (int i = 0; i < 10; i++)
        sum += part;
    wrong = sum - 1;
    sum = wrong;
    memcpy(&bits, &wrong, sizeof bits);
    sprintf(text, "%016lx", (unsigned long)bits);
    bits = strtoul(text, 0, 16);
    memcpy(&again, &bits, sizeof again);
    printf("%.3f\n", again + 0.125);
}
