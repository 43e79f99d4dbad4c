// Shewchuk's sum: a list of numbers that do not overlap, of which all but the last are zero in the reals, and zeros
// are left out.
#include <math.h>
#include <stdio.h>
volatile double terms[8] = {0.1, 1e16, 0.7, -3e7, 1e-9, 2.5e12, 1.0 / 3, 4e-5};
int main(void)
{
    double partials[16];
    int count = 0;
    for (int n = 0; n < 8; n++) {
        double x = terms[n];
        int kept = 0;
        for (int i = 0; i < count; i++) {
            double y = partials[i];
            if (fabs(x) < fabs(y)) {
                double other = x;
                x = y;
                y = other;
            }
            double high = x + y, low = y - (high - x);
            if (low != 0)
                partials[kept++] = low;
            x = high;
        }
        partials[kept] = x;
        count = kept + 1;
    }
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += partials[i];
    printf("%.17g\n", sum);
}
