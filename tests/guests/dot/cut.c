/* Parts of numbers with derivatives put over others by string instructions: counted. Numbers that are moved whole, in pieces or with what
 * is beside them, are not. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double x = 1.7;

#define KEPT __attribute__((noinline, noipa))
#define MOVE(to, from, count, element)                                                                   \
    do {                                                                                                 \
        void *to_ = (to);                                                                                \
        const void *from_ = (from);                                                                      \
        uint64_t count_ = (count);                                                                       \
        __asm__ volatile("rep movs" element : "+D"(to_), "+S"(from_), "+c"(count_) : : "memory");         \
    } while (0)

/* The `count` bytes from number `at` on of a number are those of another one. */
static KEPT double put(double a, double b, int at, int count)
{
    MOVE((char *)&a + at, (char *)&b + at, count, "b");
    return a * 2;
}

static KEPT double put_constant(double a, double b, int at, int count)
{
    (void)b;
    void *to = (char *)&a + at;
    uint64_t left = count;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(left) : "a"(0x11) : "memory");
    return a * 2;
}

static KEPT double put_word(double a, double b)
{
    MOVE((char *)&a + 4, (char *)&b + 4, 1, "l");
    return a * 2;
}

/* Ends within two. */
static KEPT double put_across(double a, double b)
{
    double to[] = {a, a, a}, from[] = {b, b, b};
    MOVE((char *)to + 5, (char *)from + 5, 2, "q");
    return to[0] + to[2];
}

static KEPT double in_pieces(double a, int count)
{
    double made;
    MOVE(&made, &a, count, "b");
    MOVE((char *)&made + count, (char *)&a + count, 8 - count, "b");
    return made * 2;
}

/* As `put`, from the last of the bytes down. */
static KEPT double put_down(double a, double b, int at, int count)
{
    void *to = (char *)&a + at + count - 1;
    const void *from = (char *)&b + at + count - 1;
    uint64_t left = count;
    __asm__ volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
    return a * 2;
}

/* Three numbers and a part of a text, from the last word down. */
static KEPT double whole_down(double a)
{
    double from[] = {a, 2 * a, 4 * a, 0}, made[4] = {0};
    memcpy((char *)from + 24, "text", 4);
    void *to = (char *)made + 24;
    const void *last = (char *)from + 24;
    uint64_t left = 7;
    __asm__ volatile("std; rep movsl; cld" : "+D"(to), "+S"(last), "+c"(left) : : "memory");
    return made[0] + made[1] + made[2];
}

struct record {
    char name[3];
    float narrow;
    double wide;
    char end[5];
} __attribute__((aligned(8)));

static KEPT double records(double a)
{
    struct record from = {"ab", (float)a, a, "cdef"}, to = {"ab", 1, a, "cdef"};
    MOVE((char *)&to + 1, (char *)&from + 1, 20, "b");
    return to.narrow + to.wide;
}

int main(void)
{
    double a = 1.1 * x, b = 3.3 * x + 1, sum = 0;
    for (int count = 1; count < 8; count++)
        sum += put(a, b, 0, count) < 0, sum += put(a, b, 8 - count, count) < 0;
    for (int count = 1; count < 8; count++) sum += put_constant(a, b, 8 - count, count) < 0;
    for (int i = 0; i < 4; i++) sum += put_word(a, b) < 0, sum += put_across(a, b) < 0;
    double whole = 0;
    for (int count = 1; count < 8; count++) whole += in_pieces(a, count);
    printf("%.17g\n", whole);
    printf("%.17g\n", records(a));
    printf("%.17g\n", whole_down(a));
    for (int count = 1; count < 8; count++)
        sum += put_down(a, b, 0, count) < 0, sum += put_down(a, b, 8 - count, count) < 0;
    return sum < 0;
}
