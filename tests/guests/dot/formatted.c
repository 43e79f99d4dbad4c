// Floats that are read again after they have been formatted: from the list that they were formatted from, from a copy of it, and
// by a function that is left in the midst of formatting.
#include "check.h"
#include <setjmp.h>
#include <stdarg.h>

#define ITEMS 10 /* more than registers hold */
#if KIND == 10
#define TEN "%Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg"
#define RISING "%4$Lg %3$Lg %2$Lg %1$Lg"
#else
#define TEN "%g %g %g %g %g %g %g %g %g %g"
#define RISING "%4$g %3$g %2$g %1$g"
#endif

static jmp_buf out;

static real sum_of(va_list list)
{
    real sum = 0;
    for (int i = 0; i < ITEMS; i++) sum += (real)va_arg(list, shown) * (real)(i + 1);
    return sum;
}

/* Formats a copy, twice, and reads the list. */
static __attribute__((noinline)) real twice(char *text, size_t size, const char *format, ...)
{
    va_list list, copy, again;
    va_start(list, format);
    va_copy(copy, list);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, copy);
    if (vsnprintf(text, size, format, again) != length) return 0;
    real sum = sum_of(list);
    va_end(again);
    va_end(copy);
    va_end(list);
    return sum;
}

static ssize_t leave(void *cookie, const char *text, size_t size)
{
    (void)cookie, (void)text, (void)size;
    longjmp(out, 1);
}

/* Formats a copy to a stream that never takes anything, perhaps a text, and reads the list. */
static __attribute__((noinline)) real left(int formats_more, const char *format, ...)
{
    va_list list, copy;
    va_start(list, format);
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = leave });
    setvbuf(stream, NULL, _IONBF, 0);
    va_copy(copy, list);
    if (!setjmp(out)) vfprintf(stream, format, copy);
    char text[64];
    if (formats_more) snprintf(text, sizeof text, "%d", 1);
    real sum = sum_of(list);
    va_end(copy);
    va_end(list);
    return sum;
}

/* They are in memory: a register that setjmp saves would lose what is beside it, which is counted. */
static __attribute__((noinline, noipa)) void fill(shown *x)
{
    for (int i = 0; i < ITEMS; i++) x[i] = (shown)at(1.25 * i - 3);
}

static void checks(void)
{
    shown x[ITEMS];
    fill(x);
    char text[512];
    const wide sum = ITEMS * (ITEMS + 1) / 2;
    check("list", twice(text, sizeof text, TEN, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]), sum);
    check("positions",
          twice(text, sizeof text, RISING, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]), sum);
    check("left-at-once", left(0, TEN, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]), sum);
    check("left", left(1, TEN, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]), sum);
    for (int i = 0; i < ITEMS; i++) x[i] *= x[i];
    snprintf(text, sizeof text, TEN, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]);
    real rest = 0;
    wide slope = 0;
    for (int i = 0; i < ITEMS; i++) rest += (real)x[i], slope += 2 * (1.25L * i - 3);
    check("values", rest, slope);
}
