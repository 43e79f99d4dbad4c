// Another number of lines each time: which output is which is not known, and no derivative is wrong.
#include <stdio.h>
#include <unistd.h>

double x = 2;

int main(void)
{
    for (int i = getpid() % 61; i >= 0; i--) printf("%.17g\n", x * i);
    return 0;
}
