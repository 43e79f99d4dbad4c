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

#define SHADOWGRIND_BASE 0x53470000u

/* The requests; arguments in the order the tool reads them. */
enum shadowgrind_request_code {
    SHADOWGRIND_GET_DOT = SHADOWGRIND_BASE + 0,   /* value address, dot address, bytes: shadow to memory; 1 */
    SHADOWGRIND_SET_DOT = SHADOWGRIND_BASE + 1,   /* value address, dot address, bytes: memory to shadow; 1 */
    SHADOWGRIND_DISABLE = SHADOWGRIND_BASE + 2,   /* added to, taken from this thread's count; off above 0 */
    SHADOWGRIND_MODE = SHADOWGRIND_BASE + 3,      /* none: an enum shadowgrind_mode */
    SHADOWGRIND_INPUT = SHADOWGRIND_BASE + 4,     /* address, count, element bytes, name, address of a double weight; 1 */
    SHADOWGRIND_OUTPUT = SHADOWGRIND_BASE + 5,    /* address, count, element bytes, name; 1 */
    SHADOWGRIND_BEGIN = SHADOWGRIND_BASE + 16,    /* none: this thread's floats are shadowed from here */
    SHADOWGRIND_END = SHADOWGRIND_BASE + 17,      /* none: up to here */
    SHADOWGRIND_MARK = SHADOWGRIND_BASE + 18,     /* address, count, element bytes, name: a spot, whatever its error */
    SHADOWGRIND_FORCE_TRACK = SHADOWGRIND_BASE + 19, /* address, count, element bytes: shadowed from now on, even if exact */
    SHADOWGRIND_GET_REAL = SHADOWGRIND_BASE + 20  /* address, element bytes, text, text bytes, digits; text length without 0 */
};

/* What is carried beside floats. */
enum shadowgrind_mode {
    SHADOWGRIND_NATIVE = 0, /* the program runs without the tool */
    SHADOWGRIND_NONE = 1,
    SHADOWGRIND_DOT = 2,
    SHADOWGRIND_MPFR = 3,
    SHADOWGRIND_ERROR = 4
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

/* ---- What runs ---- */

/* The shadow in force; SHADOWGRIND_NATIVE without the tool. */
static inline SHADOWGRIND_UNUSED enum shadowgrind_mode shadowgrind_mode(void)
{
    return (enum shadowgrind_mode)shadowgrind_request(0, SHADOWGRIND_MODE, 0, 0, 0, 0, 0);
}

/* Shadowing off and on again for the calling thread; pairs may nest. While it is off, derivatives are not computed,
 * and no finding is made. */
static inline SHADOWGRIND_UNUSED void shadowgrind_off(void)
{
    shadowgrind_request(0, SHADOWGRIND_DISABLE, 1, 0, 0, 0, 0);
}

static inline SHADOWGRIND_UNUSED void shadowgrind_on(void)
{
    shadowgrind_request(0, SHADOWGRIND_DISABLE, 0, 1, 0, 0, 0);
}

/* ---- Derivatives: --shadow=dot ---- */

/* Copies the dot values of `bytes` bytes of floats to `dots`, in the floats' own formats. 1 if the tool did; without
 * it 0, and `dots` is as it was. */
static inline SHADOWGRIND_UNUSED int shadowgrind_get_dots(const void *values, void *dots, size_t bytes)
{
    return (int)shadowgrind_request(0, SHADOWGRIND_GET_DOT, SHADOWGRIND_ADDRESS(values), SHADOWGRIND_ADDRESS(dots),
                                    bytes, 0, 0);
}

/* Gives `bytes` bytes of floats the dot values at `dots`. The floats themselves are not changed. */
static inline SHADOWGRIND_UNUSED int shadowgrind_set_dots(void *values, const void *dots, size_t bytes)
{
    return (int)shadowgrind_request(0, SHADOWGRIND_SET_DOT, SHADOWGRIND_ADDRESS(values), SHADOWGRIND_ADDRESS(dots),
                                    bytes, 0, 0);
}

/* The bytes of a number that carry something: a long double has 10 of its 16. */
#define SHADOWGRIND_BYTES(type) (sizeof(type) > 10 ? 10 : sizeof(type))

/* shadowgrind_dot(x): the dot value of x; 0 without the tool.
 * shadowgrind_with_dot(x, dot): x, carrying this dot value. Suffixes f and l as in math.h. */
#define SHADOWGRIND_BY_VALUE(type, get, with)                          \
    static inline SHADOWGRIND_UNUSED type get(type value)              \
    {                                                                  \
        type dot = 0;                                                  \
        shadowgrind_get_dots(&value, &dot, SHADOWGRIND_BYTES(type));   \
        return dot;                                                    \
    }                                                                  \
    static inline SHADOWGRIND_UNUSED type with(type value, type dot)   \
    {                                                                  \
        shadowgrind_set_dots(&value, &dot, SHADOWGRIND_BYTES(type));   \
        return value;                                                  \
    }
SHADOWGRIND_BY_VALUE(float, shadowgrind_dotf, shadowgrind_with_dotf)
SHADOWGRIND_BY_VALUE(double, shadowgrind_dot, shadowgrind_with_dot)
SHADOWGRIND_BY_VALUE(long double, shadowgrind_dotl, shadowgrind_with_dotl)
#undef SHADOWGRIND_BY_VALUE

/* ---- Names ---- */

/* `count` floats of `size` bytes each (4, 8, or 16 for long double) are an input called `name`; dot values of `weight`. */
static inline SHADOWGRIND_UNUSED int shadowgrind_input(const char *name, void *values, size_t count, size_t size,
                                                       double weight)
{
    return (int)shadowgrind_request(0, SHADOWGRIND_INPUT, SHADOWGRIND_ADDRESS(values), count, size,
                                    SHADOWGRIND_ADDRESS(name), SHADOWGRIND_ADDRESS(&weight));
}

/* `count` floats are reported, as they are now, as outputs called `name`. */
static inline SHADOWGRIND_UNUSED int shadowgrind_output(const char *name, const void *values, size_t count, size_t size)
{
    return (int)shadowgrind_request(0, SHADOWGRIND_OUTPUT, SHADOWGRIND_ADDRESS(values), count, size,
                                    SHADOWGRIND_ADDRESS(name), 0);
}

#define SHADOWGRIND_NAME_INPUT(name, lvalue) shadowgrind_input((name), &(lvalue), 1, sizeof(lvalue), 1.0)
#define SHADOWGRIND_NAME_INPUTS(name, pointer, count) \
    shadowgrind_input((name), (pointer), (count), sizeof(*(pointer)), 1.0)
#define SHADOWGRIND_NAME_OUTPUT(name, lvalue) shadowgrind_output((name), &(lvalue), 1, sizeof(lvalue))
#define SHADOWGRIND_NAME_OUTPUTS(name, pointer, count) \
    shadowgrind_output((name), (pointer), (count), sizeof(*(pointer)))

/* ---- Reals: --shadow=mpfr ---- */

/* Shadows this thread's floats from here to the matching end only. Without any such pair everything is shadowed. */
static inline SHADOWGRIND_UNUSED void shadowgrind_begin(void)
{
    shadowgrind_request(0, SHADOWGRIND_BEGIN, 0, 0, 0, 0, 0);
}

static inline SHADOWGRIND_UNUSED void shadowgrind_end(void)
{
    shadowgrind_request(0, SHADOWGRIND_END, 0, 0, 0, 0, 0);
}

/* `count` floats are a spot called `name`: their error is reported as that of a printed value is. */
static inline SHADOWGRIND_UNUSED int shadowgrind_mark(const char *name, const void *values, size_t count, size_t size)
{
    return (int)shadowgrind_request(0, SHADOWGRIND_MARK, SHADOWGRIND_ADDRESS(values), count, size,
                                    SHADOWGRIND_ADDRESS(name), 0);
}

/* `count` floats get reals now, though no operation made them yet. */
static inline SHADOWGRIND_UNUSED int shadowgrind_force_track(const void *values, size_t count, size_t size)
{
    return (int)shadowgrind_request(0, SHADOWGRIND_FORCE_TRACK, SHADOWGRIND_ADDRESS(values), count, size, 0, 0);
}

/* Writes the real beside a float to `text` as a decimal number of at most `digits` digits (0: all that are known),
 * cut to `bytes` bytes with the final 0. The length it has uncut; without the tool 0, and an empty text. */
static inline SHADOWGRIND_UNUSED size_t shadowgrind_get_real(const void *value, size_t size, char *text, size_t bytes,
                                                             unsigned digits)
{
    if (bytes > 0) text[0] = 0;
    return (size_t)shadowgrind_request(0, SHADOWGRIND_GET_REAL, SHADOWGRIND_ADDRESS(value), size,
                                       SHADOWGRIND_ADDRESS(text), bytes, digits);
}

#define SHADOWGRIND_MARK_VALUE(name, lvalue) shadowgrind_mark((name), &(lvalue), 1, sizeof(lvalue))
#define SHADOWGRIND_FORCE(lvalue) shadowgrind_force_track(&(lvalue), 1, sizeof(lvalue))
#define SHADOWGRIND_REAL(lvalue, text) shadowgrind_get_real(&(lvalue), sizeof(lvalue), (text), sizeof(text), 0)

#if defined(__cplusplus)
namespace shadowgrind {
/* The same by overload. */
inline float dot(float x) { return shadowgrind_dotf(x); }
inline double dot(double x) { return shadowgrind_dot(x); }
inline long double dot(long double x) { return shadowgrind_dotl(x); }
inline float with_dot(float x, float d) { return shadowgrind_with_dotf(x, d); }
inline double with_dot(double x, double d) { return shadowgrind_with_dot(x, d); }
inline long double with_dot(long double x, long double d) { return shadowgrind_with_dotl(x, d); }
}
#endif

#endif
