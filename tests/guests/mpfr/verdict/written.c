// Floats leave in binary form by one call: the first is right, a later one is not.
// FAILS output
// CAUSES 10
#include <unistd.h>
volatile double one = 1, terms[] = { 0, 1e16 };
int main(void)
{
    for (int i = 0; i < 2; i++) {
        double x = one / 3 + terms[i];
        x -= terms[i];
        if (write(1, &x, sizeof x) != sizeof x) return 1;
    }
}
