// One forty-ninth times forty-nine is 1 in the reals only: the conversion cuts to 0.
#include <stdio.h>
volatile double forty_nine = 49;
int main(void)
{
    double one = 1 / forty_nine * forty_nine;
    int whole = (int)one; // CULPRIT conversion
    printf("%d\n", whole);
}
