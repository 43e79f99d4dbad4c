// A handler runs between what is computed before it and after it.
#include <math.h>
#include <signal.h>
#include <stdio.h>

double x = 0.75;
static volatile double sum;

static void handle(int signal)
{
    sum += x * signal;
}

int main(void)
{
    signal(SIGUSR1, handle);
    sum = sin(x);
    raise(SIGUSR1);
    printf("%.15g\n", sum * x);
    return 0;
}
