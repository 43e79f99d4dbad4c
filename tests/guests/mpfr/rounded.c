// Floats rounded to integers by single instructions, often: in all modes, those of MXCSR among them, changed on the way, in lanes, in
// general registers, and where the reals are on the other side of where another integer begins.
#include <stdio.h>
#include <stdlib.h>
#include <xmmintrin.h>

#define ROUND(to, x, mode) __asm__("roundsd $" #mode ", %1, %0" : "+x"(to) : "x"(x))

/* As the mode in bits 13 and 14 of MXCSR says. */
static double by_mode(double x, unsigned mode, long *sum)
{
    unsigned before = _mm_getcsr(), changed = (before & ~0x6000u) | mode << 13;
    double to = 0;
    long integer;
    __asm__ volatile("ldmxcsr %3\n\troundsd $4, %2, %0\n\tcvtsd2si %2, %1\n\tldmxcsr %4"
                     : "+x"(to), "=r"(integer)
                     : "x"(x), "m"(changed), "m"(before));
    *sum += integer;
    return to;
}

int main(void)
{
    double tenth = atof("0.1"), x = 0, sums[9] = {0};
    float lanes[4] = {0};
    long integers = 0;
    for (int i = 0; i < 400; i++) {
        double near = 0, down = 0, up = 0, cut = 0;
        x += tenth;
        ROUND(near, x, 0);
        ROUND(down, x, 1);
        ROUND(up, x, 2);
        ROUND(cut, -x, 3);
        sums[0] += near - x, sums[1] += down - x, sums[2] += up - x, sums[3] += cut + x;
        for (unsigned mode = 0; mode < 4; mode++) sums[4 + mode] += by_mode(5 * x, mode, &integers) * tenth;
        __attribute__((aligned(16))) float given[4] = {x, 2 * x, -x, 4 * x}, made[4];
        __asm__("roundps $1, %1, %%xmm3\n\tmovaps %%xmm3, %0" : "=m"(made) : "m"(given) : "xmm3");
        for (int n = 0; n < 4; n++) lanes[n] += given[n] - made[n];
        sums[8] = down;
    }
    for (int n = 0; n < 9; n++) printf("%.17g\n", sums[n]);
    printf("%ld %.9g %.9g %.9g %.9g\n", integers, lanes[0], lanes[1], lanes[2], lanes[3]);
    return 0;
}
