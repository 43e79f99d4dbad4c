// Printing and reading of floating-point numbers round-trips; printf in all its float forms.
#include "guest.h"
#include <locale.h>

int main(void)
{
    uint64_t seed = 12345;
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = next_random(&seed);
        double x;
        memcpy(&x, &bits, 8);
        if (x != x) continue;
        char text[64];
        snprintf(text, sizeof text, "%.17g", x);
        double back = strtod(text, NULL);
        CHECK(!memcmp(&x, &back, 8));
        long double l = (long double)x / 3, again;
        snprintf(text, sizeof text, "%.21Lg", l);
        again = strtold(text, NULL);
        CHECK(l == again);
    }
    setlocale(LC_ALL, "C");
    printf("%f %e %g %a %.0f %10.3f|%-12.2e|%+g %#.0f %Lf %La\n", 3.14159, 1e-7, 1e100, 0.1, 2.5, -1.5, 12345.678, 0.0, 7.0, 1.1L, 0.1L);
    printf("%.50f\n%.60e\n%.1100g\n", 0.1, 5e-324, 1.7976931348623157e308);
    return 0;
}
