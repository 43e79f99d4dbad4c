// The exponential of a matrix by its series (Moler and Van Loan, "Nineteen dubious ways to compute the exponential of a
// matrix", SIAM Review 20, 1978): terms of 10^7 with changing signs add up to something near 10^-9.
#include <stdio.h>

int main(void)
{
    double a[2][2] = {{-20.1, 1.3}, {0, -20.1}}, term[2][2] = {{1, 0}, {0, 1}}, sum[2][2] = {{1, 0}, {0, 1}};
    for (int n = 1; n < 120; n++) {
        double next[2][2];
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) next[i][j] = (term[i][0] * a[0][j] + term[i][1] * a[1][j]) / n;
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                term[i][j] = next[i][j];
                sum[i][j] += term[i][j]; // CULPRIT cancellation
            }
    }
    printf("%.17g %.17g\n", sum[0][0], sum[0][1]);
    return 0;
}
