// Client requests: shadowgrind.h, and those that binaries built for Derivgrind make.
#include "shadowgrind.h"
#include <stdio.h>
#include <string.h>

static uint64_t derivgrind(uint64_t code, const void *value, const void *dot, uint64_t bytes)
{
    return shadowgrind_request(0, 0x44470000 + code, (uint64_t)(uintptr_t)value, (uint64_t)(uintptr_t)dot, bytes, 0, 0);
}

static void show(const char *name, double value, double must) { printf("%s %.17g %.17g\n", name, value, must); }

__attribute__((noinline)) static double power(double x, int n)
{
    double y = 1;
    for (int i = 0; i < n; i++) y = y * x;
    return y;
}

/* Prints what came back beside what must come back; natively both are told apart by the first line. */
int main(void)
{
    int on = shadowgrind_mode() == SHADOWGRIND_DOT;
    double x = shadowgrind_with_dot(3.0, 1.0), y = x * x;
    show("by-value", on ? shadowgrind_dot(y) : 6, 6);
    float xf = shadowgrind_with_dotf(3.0f, 2.0);
    show("float", on ? shadowgrind_dotf(xf * xf) : 12, 12);
    long double xl = shadowgrind_with_dotl(3.0L, 0.5);
    show("long-double", on ? shadowgrind_dotl(xl * xl) : 3, 3);

    double values[4] = {1, 2, 3, 4}, dots[4] = {5, 6, 7, 8}, back[4] = {5, 6, 7, 8};
    if (shadowgrind_set_dots(values, 4, sizeof values[0], dots) == 4) {
        memset(back, 0, sizeof back);
        shadowgrind_get_dots(values, 4, sizeof values[0], back);
    }
    for (int i = 0; i < 4; i++) show("array", back[i], dots[i]);

    double z = 2, dz = 1.5, got = 1.5;
    if (derivgrind(1, &z, &dz, sizeof z) == 1) derivgrind(0, &z, &got, sizeof z);
    show("derivgrind", got, 1.5);
    long double w = 2, dw = 1.5L, gotten = 1.5L;
    if (derivgrind(1, &w, &dw, 10) == 1) derivgrind(0, &w, &gotten, 10);
    show("derivgrind-long-double", (double)gotten, 1.5);

    /* Volatile: the compiler must not compute both products at once. What a result overwrites has lost its shadow, a
       copy has kept it, and what nothing touched is as before. */
    volatile double five = 5, unseen = x * five, copy = 0;
    shadowgrind_off();
    unseen = x * five;
    copy = x;
    shadowgrind_on();
    show("switched-off", on ? shadowgrind_dot(unseen) : 0, 0);
    show("copied-while-off", on ? shadowgrind_dot(copy) : 1, 1);
    show("switched-on", on ? shadowgrind_dot(x * five) : 5, 5);
    double (*volatile powered)(double, int) = power;
    shadowgrind_off();
    shadowgrind_off();
    unseen = powered(x, 3);
    shadowgrind_on();
    unseen += powered(x, 3);
    shadowgrind_on();
    show("loop-while-off", on ? shadowgrind_dot(unseen) : 0, 0);
    show("the-same-loop-on", on ? shadowgrind_dot(powered(x, 3)) : 27, 27);

    double named[2] = {1, 2};
    SHADOWGRIND_NAME_INPUTS("named", named, 2);
    double result = named[0] * named[1];
    SHADOWGRIND_NAME_OUTPUT("result", result);
    show("named", on ? shadowgrind_dot(result) : 3, 3);
}
