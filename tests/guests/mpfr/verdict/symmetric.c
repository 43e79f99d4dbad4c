// Two halves of a wire, mirrored and turned: lengths, angles and sums that are equal in exact arithmetic though every one of them
// is rounded in the reals as well.
// FAILS decision
#include <math.h>
#include <stdio.h>
#define N 20
volatile double from = -0.23, to = 0.27, away = 0.3, three = 3;
static double length(double x, double y, double z)
{
    return sqrt(x * x + y * y + z * z);
}
int main(void)
{
    double step = (to - from) / (3 * N), left[N], right[N];
    for (int i = 0; i < N; i++) {
        double height = from + step * i;
        left[i] = length(height / three, away, 1) * cos(height * 7);
        right[i] = length(-away, 1, -(height / three)) * cos(-7 * height);
    }
    int equal = 0;
    double first = 0, second = 0;
    for (int i = 0; i < N; i++) {
        first += left[i] / three;
        second += right[i];
    }
    int apart = fabs(first - second / three) > 1e-10;
    for (int i = 0; i < N; i++)
        equal += fabs(left[i]) / three == fabs(right[i] / three); // DECIDES 4 of 20
    printf("%d %d %g\n", apart, equal, 0.5);
}
