// Floats that can be named in many ways: each case moves one of them by the last argument, just before the function
// that a SPEC names it at is entered.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point {
    double x, y;
    float z[3];
    struct point *next;
};

double *line;
double **rows;
struct point origin = {1, 2, {3, 4, 5}, NULL}, second = {6, 7, {8, 9, 10}, NULL};
struct point *points[2] = {&origin, &second};
int count = 3;

__attribute__((noinline)) double norm(const double *v, int n, const struct point *p, float f)
{
    double sum = sin(f) + p->x * p->y + p->z[1] * p->next->x;
    for (int i = 0; i < n; i++) sum += v[i] * v[i] * (i + 1);
    return sum;
}

__attribute__((noinline)) double globals(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += exp(line[i] / 10) + rows[1][i] * rows[0][0];
    return sum + points[1]->x * points[0]->z[2] + sqrt(origin.next->y);
}

__attribute__((noinline)) double each(double x, long number)
{
    __asm__ volatile("" : "+x"(x));
    return x * x + number;
}

static double with_square(double x) { return x * x + x; }
static double (*choose(void))(double) { return with_square; }
double chosen(double x) __attribute__((ifunc("choose")));

__attribute__((noinline)) void fill(double *into, int n, double x)
{
    for (int i = 0; i < n; i++) into[i] = x * (i + 1) + x * x;
}

int main(int argc, char **argv)
{
    const char *name = argv[1];
    double h = argc > 2 ? atof(argv[2]) : 0;
#define IF(case) (strcmp(name, case) == 0 ? h : 0)
    double v[4] = {1, 2, 3, 4}, other[3] = {2, 4, 8};
    double *both[2] = {other, v};
    origin.next = &second;
    second.next = &origin;
    line = v;
    rows = both;
    v[0] += IF("v0") + IF("v0-2"), v[1] += IF("v0-2"), v[2] += IF("v2") + IF("v0-2");
    origin.x += IF("x"), origin.y += IF("y"), origin.z[1] += IF("z1");
    second.x += IF("second.x");
    printf("%.17g\n", norm(v, 3, &origin, 0.5f + (float)IF("f")));
    v[0] += IF("line0") + IF("line0-2"), v[1] += IF("line1") + IF("line0-2"), v[2] += IF("line0-2");
    other[0] += IF("rows00");
    origin.z[2] += IF("points0z2");
    second.x += IF("points1x"), second.y += IF("next.y");
    printf("%.17g\n", globals(count));
    for (int i = 0; i < 4; i++) {
        double sign = i % 2 ? -1.5 : 1.5;
        printf("%.17g\n", each(sign + (i == 2 ? IF("each2") : 0) + (i % 2 ? IF("negative") : 0), i));
    }
    printf("%.17g\n", chosen(1.75 + IF("chosen")));
    fill(v, count, 3 + IF("fill"));
    printf("%.17g\n", v[0] + v[2]);
    return 0;
}
