// Ways to the line of an error: through the C library, into it, recursion, a frame of variable size, another thread; and where
// a thousand executions from elsewhere were right.
#include <alloca.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A call whose result is used afterwards stays a call.
#define APART __attribute__((noinline, noclone))

static volatile double kept;

static APART double difference(double x) {
    double r = sqrt(x + 1) - sqrt(x); // ERRS 1
    return kept = r;
}

static APART double recursive(int depth, double x) {
    if (depth == 0) {
        double r = difference(x) + 1; // CALLS 1 1
        return kept = r;
    }
    double r = recursive(depth - 1, x) + 1; // CALLS 1 2; CALLS 1 3
    return kept = r;
}

static APART double variable(int size, double x) {
    char *room = alloca(size);
    memset(room, 1, size);
    double r = recursive(2, x) + room[size - 1]; // CALLS 1 4
    return kept = r;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    double d = (x + 1e16) - 1e16 - y; // ERRS 2
    kept = d;
    return d < 0 ? -1 : d > 0;
}

static APART double sorted(int argc) {
    double all[] = {3.3 * argc, 1.1, 2.2};
    qsort(all, 3, sizeof *all, compare); // CALLS 2 1
    return kept = all[0];
}

static APART double product(double x) {
    double r = (1 - cos(x)) * 4; // ERRS 3
    return kept = r;
}

static APART double growth(double x) {
    double r = exp(x) - 1; // ERRS 4
    return kept = r;
}

static APART double late(double x) {
    double r = (x + 1e8) - 1e8; // ERRS 5
    return kept = r;
}

static APART double right(int times) {
    double r = 0;
    for (int i = 0; i < times; i++) r += late(i);
    return kept = r;
}

static APART double wrong(int times) {
    double r = 0;
    for (int i = 0; i < times; i++) r += late(0.3); // CALLS 5 1
    return kept = r;
}

static void *thread(void *x) {
    double r = product(*(double *)x) + 1; // CALLS 3 1
    kept = r;
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    double r = variable(argc + 100, 1e12 * argc); // CALLS 1 5
    r += sorted(argc); // CALLS 2 2
    r += growth(1e3 * argc) > 0; // CALLS 4 1
    r += right(1000 * argc);
    r += wrong(50000 * argc); // CALLS 5 2
    double small = 1e-8 * argc;
    pthread_t other;
    pthread_create(&other, NULL, thread, &small);
    pthread_join(other, NULL);
    printf("%.17g %.17g\n", r, kept);
    return 0;
}
