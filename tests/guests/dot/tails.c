// Pieces of text of a few bytes each are put, from the last to the first and from the first to the last, into memory where doubles
// with derivatives were, and written: nothing of them leaves.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double x = 0.7;

enum { COUNT = 256, BYTES = COUNT * sizeof(double) };

/// Copies as the C library does it for so few bytes.
static void put(char *to, const char *from, size_t bytes) {
    memcpy(to, from, bytes);
}

static void (*volatile copy)(char *, const char *, size_t) = put;

static double fill(double *floats, double scale) {
    double sum = 0;
    for (int i = 0; i < COUNT; i++) sum += floats[i] = x * x * scale / (i + 3);
    // What would be left out otherwise, since it is never read.
    __asm__ volatile("" : : "r"(floats) : "memory");
    return sum;
}

int main(void) {
    static const char text[] = "2:0.4173 -1.25 nu=7;";
    double *floats = malloc(BYTES);
    char *buffer = (char *)floats;
    double sum = fill(floats, 1);
    for (size_t at = BYTES, n = 0; at > 0; n++) {
        size_t bytes = 1 + n % 5 < at ? 1 + n % 5 : at;
        copy(buffer + (at -= bytes), text + n % 13, bytes);
    }
    buffer[BYTES - 1] = '\n';
    if (write(1, buffer, BYTES) != BYTES) return 1;
    sum += fill(floats, -3);
    for (size_t at = 0, n = 0; at < BYTES; n++) {
        size_t bytes = 1 + n % 5 < BYTES - at ? 1 + n % 5 : BYTES - at;
        copy(buffer + at, text + n % 13, bytes);
        at += bytes;
    }
    buffer[BYTES - 1] = '\n';
    if (write(1, buffer, BYTES) != BYTES) return 1;
    printf("%.17g\n", sum);
    return 0;
}
