/* Talks to shadowgrind from within a C or C++ program: derivatives in and out, names for inputs and outputs, marks.
 *
 * Header only. Without the tool each request is five instructions that change nothing, and the functions return what
 * their comments call the answer "without the tool". Compiles as C99, C++98 and later, for x86-64 Linux.
 *
 * Deliberately absent: any decision of its own. A request only states addresses, sizes and names.
 */
#ifndef SHADOWGRIND_H
#define SHADOWGRIND_H

#include <stddef.h>
#include <stdint.h>

/* The requests; arguments in the order the tool reads them. FLOATS is a struct shadowgrind_floats. */
enum shadowgrind_request_code {
    SHADOWGRIND_VERSION = 0x53470000,       /* none: version of this table */
    SHADOWGRIND_SHADOW = 0x53470001,        /* none: an enum shadowgrind_mode */
    SHADOWGRIND_GET_DOTS = 0x53470002,      /* FLOATS *, double *: how many were read */
    SHADOWGRIND_SET_DOTS = 0x53470003,      /* FLOATS *, const double *: how many were set */
    SHADOWGRIND_INPUT = 0x53470004,         /* FLOATS *, name, address of a double weight: count */
    SHADOWGRIND_OUTPUT = 0x53470005,        /* FLOATS *, name: count */
    SHADOWGRIND_DISABLE = 0x53470006,       /* none: how often it is disabled now */
    SHADOWGRIND_ENABLE = 0x53470007,        /* none: likewise */
    SHADOWGRIND_GET_REAL = 0x53470008,      /* address, format, text, bytes, digits: length of the text */
    SHADOWGRIND_GET_ERROR_BITS = 0x53470009, /* address, format, double *: whether the shadow knows errors */
    SHADOWGRIND_TRACK = 0x5347000a,         /* FLOATS *: count */
    SHADOWGRIND_BEGIN = 0x48420000,         /* none */
    SHADOWGRIND_END = 0x48420001            /* none */
};

/* What is carried beside floats. */
enum shadowgrind_mode {
    SHADOWGRIND_NATIVE = -1, /* the program runs without the tool */
    SHADOWGRIND_NONE = 0,
    SHADOWGRIND_DOT = 1,
    SHADOWGRIND_MPFR = 2,
    SHADOWGRIND_ERROR = 3,
    SHADOWGRIND_ADJOINT = 4
};

/* Floats in memory. */
struct shadowgrind_floats {
    const volatile void *first;
    uint64_t format; /* 4 float, 8 double, 16 long double: sizeof the type */
    uint64_t count;
    int64_t stride; /* bytes from one to the next; 0: they lie side by side */
};

#if defined(__GNUC__)
#define SHADOWGRIND_UNUSED __attribute__((unused))
#else
#define SHADOWGRIND_UNUSED
#endif

/* A request as such; `fallback` is the answer without the tool. The four rotations add up to 128 bits, the exchange is
 * of a register with itself: the processor does nothing, Valgrind and shadowgrind see rax and rdx. */
static inline SHADOWGRIND_UNUSED uint64_t shadowgrind_request(uint64_t fallback, uint64_t code, uint64_t a, uint64_t b,
                                                              uint64_t c, uint64_t d, uint64_t e)
{
    uint64_t result = fallback;
#if defined(__x86_64__) && defined(__linux__) && !defined(SHADOWGRIND_DISABLED)
    volatile uint64_t block[6];
    block[0] = code;
    block[1] = a;
    block[2] = b;
    block[3] = c;
    block[4] = d;
    block[5] = e;
    __asm__ volatile("rolq $3, %%rdi\n\t"
                     "rolq $13, %%rdi\n\t"
                     "rolq $61, %%rdi\n\t"
                     "rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(&block[0])
                     : "cc", "memory");
#else
    (void)code, (void)a, (void)b, (void)c, (void)d, (void)e;
#endif
    return result;
}

#define SHADOWGRIND_ADDRESS(pointer) ((uint64_t)(uintptr_t)(const volatile void *)(pointer))

/* A request about floats. The tool fills nothing in, so the description may live on the stack. */
static inline SHADOWGRIND_UNUSED uint64_t shadowgrind_floats_request(uint64_t code, const volatile void *first,
                                                                     size_t count, size_t size, const void *b,
                                                                     const void *c)
{
    struct shadowgrind_floats floats;
    floats.first = first;
    floats.format = size;
    floats.count = count;
    floats.stride = 0;
    return shadowgrind_request(0, code, SHADOWGRIND_ADDRESS(&floats), SHADOWGRIND_ADDRESS(b), SHADOWGRIND_ADDRESS(c), 0,
                               0);
}

/* ---- What runs ---- */

/* The shadow in force; SHADOWGRIND_NATIVE without the tool. */
static inline SHADOWGRIND_UNUSED enum shadowgrind_mode shadowgrind_mode(void)
{
    if (shadowgrind_request(0, SHADOWGRIND_VERSION, 0, 0, 0, 0, 0) == 0) return SHADOWGRIND_NATIVE;
    return (enum shadowgrind_mode)shadowgrind_request(0, SHADOWGRIND_SHADOW, 0, 0, 0, 0, 0);
}

/* Shadowing off and on again for the calling thread; pairs may nest. While it is off, results of operations carry no
 * shadow and no output is recorded; copies keep what they had. */
static inline SHADOWGRIND_UNUSED void shadowgrind_off(void)
{
    shadowgrind_request(0, SHADOWGRIND_DISABLE, 0, 0, 0, 0, 0);
}

static inline SHADOWGRIND_UNUSED void shadowgrind_on(void)
{
    shadowgrind_request(0, SHADOWGRIND_ENABLE, 0, 0, 0, 0, 0);
}

/* ---- Derivatives: --shadow=dot ---- */

/* Reads the dot values of `count` floats of `size` bytes each (sizeof the type). How many were read: without the tool,
 * or under another shadow, 0, and `dots` is as it was. */
static inline SHADOWGRIND_UNUSED size_t shadowgrind_get_dots(const void *values, size_t count, size_t size, double *dots)
{
    return (size_t)shadowgrind_floats_request(SHADOWGRIND_GET_DOTS, values, count, size, dots, NULL);
}

/* Gives `count` floats dot values. The floats themselves do not change. */
static inline SHADOWGRIND_UNUSED size_t shadowgrind_set_dots(void *values, size_t count, size_t size, const double *dots)
{
    return (size_t)shadowgrind_floats_request(SHADOWGRIND_SET_DOTS, values, count, size, dots, NULL);
}

/* shadowgrind_dot(x): the dot value of x; 0 without the tool.
 * shadowgrind_with_dot(x, dot): x, carrying this dot value. Suffixes f and l as in math.h. */
#define SHADOWGRIND_BY_VALUE(type, get, with)                            \
    static inline SHADOWGRIND_UNUSED double get(type value)              \
    {                                                                    \
        double dot = 0;                                                  \
        shadowgrind_get_dots(&value, 1, sizeof value, &dot);             \
        return dot;                                                      \
    }                                                                    \
    static inline SHADOWGRIND_UNUSED type with(type value, double dot)   \
    {                                                                    \
        shadowgrind_set_dots(&value, 1, sizeof value, &dot);             \
        return value;                                                    \
    }
SHADOWGRIND_BY_VALUE(float, shadowgrind_dotf, shadowgrind_with_dotf)
SHADOWGRIND_BY_VALUE(double, shadowgrind_dot, shadowgrind_with_dot)
SHADOWGRIND_BY_VALUE(long double, shadowgrind_dotl, shadowgrind_with_dotl)
#undef SHADOWGRIND_BY_VALUE

/* ---- Names for the report ---- */

/* `count` floats are an input called `name`: the dot value of each becomes `weight`, or each is a component of all gradients
 * (--shadow=adjoint; these are in the report, when the program has ended). */
static inline SHADOWGRIND_UNUSED size_t shadowgrind_input(const char *name, void *values, size_t count, size_t size,
                                                          double weight)
{
    return (size_t)shadowgrind_floats_request(SHADOWGRIND_INPUT, values, count, size, name, &weight);
}

/* `count` floats are reported, as they are now, as outputs called `name`: with their derivative, gradient or
 * error. */
static inline SHADOWGRIND_UNUSED size_t shadowgrind_output(const char *name, const void *values, size_t count,
                                                           size_t size)
{
    return (size_t)shadowgrind_floats_request(SHADOWGRIND_OUTPUT, values, count, size, name, NULL);
}

#define SHADOWGRIND_NAME_INPUT(name, lvalue) shadowgrind_input((name), &(lvalue), 1, sizeof(lvalue), 1.0)
#define SHADOWGRIND_NAME_INPUTS(name, pointer, count) \
    shadowgrind_input((name), (pointer), (count), sizeof(*(pointer)), 1.0)
#define SHADOWGRIND_NAME_OUTPUT(name, lvalue) shadowgrind_output((name), &(lvalue), 1, sizeof(lvalue))
#define SHADOWGRIND_NAME_OUTPUTS(name, pointer, count) \
    shadowgrind_output((name), (pointer), (count), sizeof(*(pointer)))

/* A spot is to --shadow=mpfr what an output is to --shadow=dot. */
#define SHADOWGRIND_MARK(name, lvalue) SHADOWGRIND_NAME_OUTPUT(name, lvalue)

/* ---- Reals: --shadow=mpfr ---- */

/* Analyses what happens between the two only. A program that never says begin is analysed as a whole. */
static inline SHADOWGRIND_UNUSED void shadowgrind_begin(void)
{
    shadowgrind_request(0, SHADOWGRIND_BEGIN, 0, 0, 0, 0, 0);
}

static inline SHADOWGRIND_UNUSED void shadowgrind_end(void)
{
    shadowgrind_request(0, SHADOWGRIND_END, 0, 0, 0, 0, 0);
}

/* `count` floats get reals now, though no operation touched them yet. */
static inline SHADOWGRIND_UNUSED size_t shadowgrind_track(const void *values, size_t count, size_t size)
{
    return (size_t)shadowgrind_floats_request(SHADOWGRIND_TRACK, values, count, size, NULL, NULL);
}

/* Writes the real a float stands for to `text` as a decimal number of `digits` digits (0: as many as the precision
 * gives), at most `bytes` with the final 0. The length of the text; without the tool 0, and an empty text. */
static inline SHADOWGRIND_UNUSED size_t shadowgrind_get_real(const void *value, size_t size, char *text, size_t bytes,
                                                             unsigned digits)
{
    if (bytes > 0) text[0] = 0;
    return (size_t)shadowgrind_request(0, SHADOWGRIND_GET_REAL, SHADOWGRIND_ADDRESS(value), size,
                                       SHADOWGRIND_ADDRESS(text), bytes, digits);
}

/* The error of a float in bits: log2(1 + floats of its type between it and its real); 0 without the tool. */
static inline SHADOWGRIND_UNUSED double shadowgrind_error_bits(const void *value, size_t size)
{
    double bits = 0;
    shadowgrind_request(0, SHADOWGRIND_GET_ERROR_BITS, SHADOWGRIND_ADDRESS(value), size, SHADOWGRIND_ADDRESS(&bits), 0,
                        0);
    return bits;
}

#define SHADOWGRIND_FORCE_TRACK(lvalue) shadowgrind_track(&(lvalue), 1, sizeof(lvalue))
#define SHADOWGRIND_REAL(lvalue, text) shadowgrind_get_real(&(lvalue), sizeof(lvalue), (text), sizeof(text), 0)
#define SHADOWGRIND_ERROR_BITS(lvalue) shadowgrind_error_bits(&(lvalue), sizeof(lvalue))

#if defined(__cplusplus)
namespace shadowgrind {
/* The same by overload. */
inline double dot(float x) { return shadowgrind_dotf(x); }
inline double dot(double x) { return shadowgrind_dot(x); }
inline double dot(long double x) { return shadowgrind_dotl(x); }
inline float with_dot(float x, double d) { return shadowgrind_with_dotf(x, d); }
inline double with_dot(double x, double d) { return shadowgrind_with_dot(x, d); }
inline long double with_dot(long double x, double d) { return shadowgrind_with_dotl(x, d); }
}
#endif

#endif
