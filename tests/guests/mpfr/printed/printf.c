// Floats that have lost what was added to them, printed in every way, and beside each the very number that it should be.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

static const char *const doubles[] = {
    "%f", "%.0f", "%.2f", "%#.0f", "%.40f", "%10.3f", "%-10.3f", "%+.3f", "% .3f", "%010.3f", "%F",
    "%e", "%.0e", "%.3E", "%#.0e", "%.30e", "%015.2e", "%g", "%G", "%.0g", "%.3g", "%#g", "%.17g", "%-12g",
    "%a", "%A", "%.0a", "%.3a", "%20.2a", "%lf", "%.15lg",
};
static const char *const longs[] = { "%Lf", "%.25Le", "%Lg", "%.21Lg", "%La", "%.2La", "%+20.3Lf" };

static volatile double large[] = { 1e16, 1e16, 1e16, 0x1p60, 0x1p60, 1e16, 3e22 };
static volatile double small[] = { 1.2345, -0.75, 999.9996, 12.5, 0.0009765625, 123456.78125, 9.5 };
static volatile float parts[] = { 1.2345f, -0.75f, 999.9996f, 12.5f, 0.0009765625f, 123456.78125f, 9.5f };
static volatile int scales[] = { 0, -1000, -60, 0, 40, 900, 0 };
#define COUNT (sizeof large / sizeof *large)

static void both(const char *format, ...)
{
    char text[100];
    va_list list;
    va_start(list, format);
    snprintf(text, sizeof text, "w=[%s] r={%s}\n", format, format);
    vprintf(text, list);
    va_end(list);
}

int main(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        // Both powers are normal: scaling is exact.
        double scale = ldexp(1, scales[i]);
        double wrong = ((large[i] + small[i]) - large[i]) * scale, right = small[i] * scale;
        for (unsigned f = 0; f < sizeof doubles / sizeof *doubles; f++)
            both(doubles[f], wrong, right);
        long double big = large[i] * 4096.0L, wide = ((big + small[i]) - big) * scale;
        for (unsigned f = 0; f < sizeof longs / sizeof *longs; f++)
            both(longs[f], wide, (long double)small[i] * scale);
        float single = large[i], part = parts[i];
        float lost = (single + part) - single;
        both("%g", lost, part);
        both("%a", lost, part);
        printf("w=[%*.*f] r={%*.*f}\n", 12, 4, wrong, 12, 4, right);
        printf("w=[%-*.*e] r={%*.*e}\n", 12, 2, wrong, -12, 2, right);
        printf("w=[%2$*1$.*4$f] r={%3$*1$.*4$f}\n", 9, wrong, right, 3);
        // A text that is asked for its length first is printed once.
        char text[2000];
        int length = snprintf(NULL, 0, "w=[%.3f] r={%.3f}", wrong, right);
        snprintf(text, length + 1, "w=[%.3f] r={%.3f}", wrong, right);
        puts(text);
        fflush(stdout);
    }
}
