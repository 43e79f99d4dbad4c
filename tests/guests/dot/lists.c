// Lists of a few integers in memory where doubles with derivatives were, of odd lengths too: they are no digits of those, and say where
// something is found.
#include <stdio.h>

enum { COUNT = 64 };

double x = 1.5;

#define KEPT __attribute__((noinline, noipa))

static KEPT void fill(double *numbers)
{
    for (int i = 0; i < COUNT; i++) numbers[i] = x * (i + 1) / 3;
}

static KEPT int list(int *places, int count, const int *chosen)
{
    int n = 0;
    for (long i = 0; i < count; i++)
        if (chosen[i]) places[n++] = i;
    return n;
}

static KEPT double sum(const double *table, const int *places, int count, const int *order, long by)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += table[order[places[i]]] + table[places[i] * by % COUNT];
    return sum;
}

int main(void)
{
    double table[COUNT], numbers[COUNT];
    int order[COUNT], chosen[COUNT];
    for (int i = 0; i < COUNT; i++) table[i] = i, order[i] = COUNT - 1 - i, chosen[i] = i % 3 == 1;
    for (int count = 1; count <= 24; count++) {
        fill(numbers);
        const double last = numbers[5];
        const int n = list((int *)numbers, count, chosen);
        printf("%.17g\n", last + sum(table, (int *)numbers, n, order, 3));
    }
    return 0;
}
