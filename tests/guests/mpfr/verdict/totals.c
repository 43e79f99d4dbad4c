// A total is compared without its correction, which is added before it is printed: the number is right, the word beside it
// is not, and nobody can tell whether the program means it so.
#include <stdio.h>
volatile double one = 1, little = 1e-20;
int main(void)
{
    for (int i = 0; i < 3; i++) {
        double sum = one + little, part = sum - one, rest = (one - (sum - part)) + (little - part);
        int greater = sum > one; // UNJUDGED 3
        printf("%d %.17g\n", greater, sum + rest);
    }
}
