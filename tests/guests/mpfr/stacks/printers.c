// Numbers printed by one function that is called from several places; before each number, its callers' lines from the innermost on.
#include <stdio.h>

struct caller {
    int line;
    const struct caller *outer;
};
#define FROM(outer) &(struct caller){__LINE__, outer}

// A call whose result is used afterwards stays a call.
#define APART __attribute__((noinline, noclone))

double x = 3;
static volatile int kept;

static APART int show(const struct caller *caller, double y)
{
    for (; caller; caller = caller->outer) printf("@%d ", caller->line);
    int r = printf("%.17g\n", y) + 1;
    return kept = r;
}

static APART int both(const struct caller *outer, double y)
{
    int r = show(FROM(outer), y) + 1;
    r += show(FROM(outer), y / 7);
    return kept = r;
}

static APART int rows(const struct caller *outer, double y)
{
    int r = both(FROM(outer), y) + 1;
    for (int i = 0; i < 3; i++) r += show(FROM(outer), y + i);
    return kept = r;
}

int main(void)
{
    int r = show(FROM(NULL), x / 3);
    r += rows(FROM(NULL), 1 / x);
    return r == 0;
}
