// The determinant of a nearly singular matrix.
#include <stdio.h>
volatile double m[4] = {64919121, 159018721, 41869520.5, 102558961};
int main(void)
{
    double down = m[0] * m[3];
    double up = m[1] * m[2];
    double determinant = down - up; // CULPRIT
    printf("%.17g\n", determinant);
}
// REMEDY 1.5
