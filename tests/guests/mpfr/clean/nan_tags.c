// Values of an interpreter in eight bytes each: doubles, or NaNs whose digits are pointers. Which one it is, their upper bits say.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 1000, NUMBERS = -14, POINTERS = -4 };

typedef struct { uint64_t bits; } value;

static value values[COUNT];

static value number(double x)
{
    value v;
    memcpy(&v.bits, &x, sizeof x);
    return v;
}

static value pointer(int *to)
{
    return (value){(uint64_t)(POINTERS - 1) << 47 | (uint64_t)to};
}

static int tag(value v)
{
    return (int)((int64_t)v.bits >> 47);
}

static __attribute__((noinline)) int is_number(value v)
{
    return (uint32_t)tag(v) < (uint32_t)NUMBERS;
}

/* Between two tags. */
static __attribute__((noinline)) int is_pointer(value v)
{
    return tag(v) > NUMBERS && tag(v) < POINTERS;
}

static __attribute__((noinline)) double sum(const value *v, int count)
{
    double sum = 0, x;
    for (int i = 0; i < count; i++) {
        if (is_pointer(v[i])) {
            sum += *(int *)(v[i].bits & (1ull << 47) - 1);
        } else if (is_number(v[i])) {
            memcpy(&x, &v[i].bits, sizeof x);
            sum += x;
        }
    }
    return sum;
}

int main(void)
{
    int one = 1;
    for (int i = 0; i < COUNT; i++) values[i] = i % 10 ? number((i - 300) / 7.0) : pointer(&one);
    printf("%.6f\n", sum(values, COUNT));
    return 0;
}
