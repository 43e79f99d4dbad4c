// Things to name wrongly.
#include <stdio.h>

double viscosity = 0.1;
static double local_scale = 2;
float grid[8] = {1, 2, 3};
int counter = 3;

__attribute__((noinline)) double propagate(double x) { return x * viscosity * local_scale + grid[counter]; }

int main(void) { printf("%g\n", propagate(3)); }
