// The Mandelbrot set: chains of multiplications and comparisons; float if so compiled.
#include <stdio.h>
#include <stdlib.h>

#ifndef REAL
#define REAL double
#endif
REAL shift = 0;

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100;
    long inside = 0;
    REAL last = 0;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            REAL cr = (REAL)2 * x / n - (REAL)1.5 + shift, ci = (REAL)2 * y / n - 1, zr = 0, zi = 0;
            int k = 0;
            for (; k < 100 && zr * zr + zi * zi <= 4; k++) {
                REAL t = zr * zr - zi * zi + cr;
                zi = 2 * zr * zi + ci;
                zr = t;
            }
            inside += k == 100;
            last += zr;
        }
    printf("%ld %.9g\n", inside, (double)last);
    return 0;
}
