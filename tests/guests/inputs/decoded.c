// Numbers below zero that end in zeros, which the program turns into text itself, by halves of each in registers, the last half first, as
// GHC's runtime does: -x (1 + i / 1000) / 64, rounded to twenty binary digits behind the point. With an argument a known function has
// made text of the first of them before, as an exact number.
#include "shadowgrind.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double x = 0.7;
static volatile double shift = 0x1p32;

/* v = *m * 2^*e */
__attribute__((noinline)) static void decode(double v, int64_t *m, int *e) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint32_t low = bits, high = bits >> 32;
    if (!low && !(high & 0x7fffffff)) {
        *m = *e = 0;
        return;
    }
    *e = (int)(high >> 20 & 0x7ff) - 1075;
    *m = (uint64_t)((high & 0xfffff) | 0x100000) << 32 | low;
    if ((int32_t)high < 0) *m = -*m;
}

/* The text of a number between -1 and 0, with all its digits. */
static void put(double v) {
    int64_t m;
    int e;
    char text[80], *end = text;
    decode(-v, &m, &e);
    end += sprintf(end, "-0.");
    for (unsigned __int128 rest = m; rest; rest &= ((unsigned __int128)1 << -e) - 1) {
        rest *= 10;
        *end++ = '0' + (int)(rest >> -e);
    }
    *end++ = '\n';
    *end = 0;
    fputs(text, stdout);
}

int main(int argc, char **argv) {
    (void)argv;
    SHADOWGRIND_NAME_INPUT("x", x);
    if (argc > 1) printf("%.20f\n", -11469 * 0x1p-20);
    for (int i = 0; i < 3; i++) put(-(x * (1 + i / 1e3) / 64 + shift - shift));
    return 0;
}
