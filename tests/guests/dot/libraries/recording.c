/* The requests by which binaries built for Derivgrind make inputs and outputs, as its macros make them. */
#include "shadowgrind.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { GET_INDEX = 3, SET_INDEX, NEW_INDEX, NEW_INDEX_ALWAYS, INDEX_TO_FILE, GET_MODE };

static uint64_t request(uint64_t code, const void *a, const void *b)
{
    return shadowgrind_request(0, 0x44470000 + code, (uint64_t)(uintptr_t)a, (uint64_t)(uintptr_t)b, 0, 0, 0);
}

static const uint64_t none = 0;
static const double zero = 0, one = 1;

struct made {
    const void *index1, *index2, *partial1, *partial2;
    void *index;
    const void *value;
};

static uint64_t new_index(uint64_t code, uint64_t i, uint64_t j, double by_i, double by_j, double value)
{
    uint64_t index = 0;
    struct made made = {&i, &j, &by_i, &by_j, &index, &value};
    request(code, &made, 0);
    return index;
}

static void input(void *x, double value)
{
    uint64_t index = new_index(NEW_INDEX_ALWAYS, none, none, zero, zero, value);
    request(SET_INDEX, x, &index);
    request(INDEX_TO_FILE, (void *)0, &index);
}

static void output(const void *x, double value)
{
    uint64_t index = 0;
    request(GET_INDEX, x, &index);
    index = new_index(NEW_INDEX_ALWAYS, index, none, one, zero, value);
    request(INDEX_TO_FILE, (void *)1, &index);
}

/* What older headers do: the five addresses are the arguments. */
static uint64_t new_index_by_words(const uint64_t *i, const uint64_t *j, const double *by_i, const double *by_j)
{
    uint64_t index = 0;
    shadowgrind_request(0, 0x44470000 + NEW_INDEX, (uint64_t)(uintptr_t)i, (uint64_t)(uintptr_t)j,
                        (uint64_t)(uintptr_t)by_i, (uint64_t)(uintptr_t)by_j, (uint64_t)(uintptr_t)&index);
    return index;
}

/* Prints, for each output, its derivatives by the three inputs: the closed form. */
int main(void)
{
    const double a = 0.7, b = 1.25, c = 2.5;
    volatile double x = a;
    volatile float y = b, beside = 3;
    volatile long double z = c;
    input((void *)&x, x);
    input((void *)&y, y);
    input((void *)&z, (double)z);

    volatile double product = x * y + sin(x) * (double)z;
    volatile double quotient = -(double)(x / z);
    volatile double constant = 4;
    output((void *)&product, product);
    output((void *)&quotient, quotient);
    output((void *)&constant, constant);
    printf("%.17g %.17g %.17g\n", b + cos(a) * c, a, sin(a));
    printf("%.17g %.17g %.17g\n", -1 / c, 0.0, a / (c * c));
    printf("%.17g %.17g %.17g\n", 0.0, 0.0, 0.0);

    /* A result of the program's own: the product of two floats. */
    uint64_t i = 0, j = 0;
    request(GET_INDEX, (void *)&product, &i);
    request(GET_INDEX, (void *)&quotient, &j);
    const double p = a * b + sin(a) * c, q = -a / c;
    uint64_t both = new_index(NEW_INDEX, i, j, q, p, p * q);
    volatile double result = p * q;
    request(SET_INDEX, (void *)&result, &both);
    result = 2 * result;
    output((void *)&result, result);
    const double by[3] = {b + cos(a) * c, a, sin(a)}, of[3] = {-1 / c, 0, a / (c * c)};
    for (int n = 0; n < 3; n++) printf("%.17g%s", 2 * (q * by[n] + p * of[n]), n < 2 ? " " : "\n");

    uint64_t again = new_index_by_words(&i, &none, &q, &zero);
    request(SET_INDEX, (void *)&result, &again);
    output((void *)&result, result);
    for (int n = 0; n < 3; n++) printf("%.17g%s", q * by[n], n < 2 ? " " : "\n");

    uint64_t mode = request(GET_MODE, 0, 0);
    int answered = mode == 0 || (mode == 'b' && i && j && both && new_index(NEW_INDEX, 0, 0, 1, 1, 0) == 0);
    return answered && beside == 3 ? 0 : 1;
}
