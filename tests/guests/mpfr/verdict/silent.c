// No float leaves: what goes wrong is told all the same.
// CAUSES 7
#include <stdio.h>
volatile double a = 1e16, b = 1;
int main(void)
{
    double lost = (a + b) - a;
    puts(lost > -1 ? "above" : "below");
}
