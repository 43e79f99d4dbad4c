// The wrong value travels through memory, a struct and a copy before it is printed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct record { int id; double value; };
volatile double x = 1e9;
int main(void)
{
    struct record r = {1, 0}, *copy = malloc(sizeof *copy);
    double square = x * x + 1.0; // CULPRIT
    r.value = square - x * x; // CULPRIT
    memcpy(copy, &r, sizeof r);
    printf("%d %.17g\n", copy->id, copy->value);
    free(copy);
}
// REMEDY 1.5
