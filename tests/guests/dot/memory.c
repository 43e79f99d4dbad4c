// Floats that are moved, never computed with: structs, unions, copies of every kind, general registers, system calls.
#include "check.h"
#include <alloca.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __clang__
#define NO_VECTORS
#else
#define NO_VECTORS __attribute__((optimize("no-tree-vectorize", "no-tree-loop-distribute-patterns")))
#endif

struct pair { real first, second; };
struct large { real v[24]; char name[7]; real last; };
union any { real number; unsigned char bytes[sizeof(real)]; uint32_t words[sizeof(real) / 4]; };

static __attribute__((noinline)) struct pair swapped(struct pair p)
{
    struct pair q = {p.second, p.first};
    return q;
}

static __attribute__((noinline)) struct large updated(struct large l)
{
    l.v[3] *= 2;
    l.last = l.v[3] + l.v[20];
    return l;
}

static real through_structs(real x)
{
    struct large l = {{0}, "large", 0}, copy;
    l.v[3] = x, l.v[20] = x * x;
    copy = updated(l);
    struct pair p = {copy.last, 5};
    return swapped(p).second;
}

static NO_VECTORS real by_bytes(real x)
{
    union any from, to;
    from.number = x;
    for (volatile unsigned i = 0; i < sizeof(real); i++) to.bytes[i] = from.bytes[i];
    return to.number;
}

static NO_VECTORS real by_words(real x)
{
    union any from, to;
    from.number = x;
    for (volatile unsigned i = 0; i < sizeof(real) / 4; i++) to.words[i] = from.words[i];
    return to.number;
}

static real by_memcpy(real x, size_t count)
{
    real *a = (real *)calloc(count, sizeof(real)), *b = (real *)malloc(count * sizeof(real));
    for (size_t i = 0; i < count; i++) a[i] = x * (real)(i + 1);
    memcpy(b, a, count * sizeof(real));
    memmove(b + 1, b, (count - 1) * sizeof(real));
    real result = b[count - 1];
    free(a);
    free(b);
    return result;
}

static real by_realloc(real x)
{
    real *a = (real *)malloc(3 * sizeof(real));
    a[2] = x;
    for (size_t n = 8; n < 1 << 20; n *= 4) a = (real *)realloc(a, n * sizeof(real));
    real result = a[2] * a[2];
    free(a);
    return result;
}

static real by_mremap(real x)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *from = (char *)mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ((real *)from)[5] = x;
    char *to = (char *)mremap(from, page, 64 * page, MREMAP_MAYMOVE);
    real result = 3 * ((real *)to)[5];
    munmap(to, 64 * page);
    return result;
}

static real by_string_moves(real x)
{
    real from[9] = {0}, to[9];
    from[4] = x;
    void *source = from, *target = to;
    size_t count = sizeof from;
    __asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(count) : : "memory");
    return to[4];
}

static real wiped_by_stores(real x)
{
    real at_place[9];
    for (int i = 0; i < 9; i++) at_place[i] = x;
    void *target = at_place;
    size_t count = sizeof at_place;
    __asm__ volatile("rep stosb" : "+D"(target), "+c"(count) : "a"(0) : "memory");
    return at_place[4];
}

static real wiped_by_memset(real x)
{
    volatile size_t bytes = 9 * sizeof(real);
    real at_place[9];
    for (int i = 0; i < 9; i++) at_place[i] = x * (real)i;
    __asm__ volatile("" : : "r"(at_place) : "memory");
    memset(at_place, 0, bytes);
    __asm__ volatile("" : : "r"(at_place) : "memory");
    return at_place[4];
}

/* The bytes are the same afterwards, but they came from outside. */
static real wiped_by_read(real x)
{
    int ends[2];
    real constant = 1.5, place = x;
    if (pipe(ends) != 0 || write(ends[1], &constant, sizeof constant) != sizeof constant) abort();
    if (read(ends[0], &place, sizeof place) != sizeof place) abort();
    close(ends[0]);
    close(ends[1]);
    return place;
}

static real wiped_by_integer(real x)
{
    union any u;
    u.number = x;
    __asm__ volatile("" : : "r"(&u) : "memory");
    for (unsigned i = 0; i < sizeof u.words / 4; i++) u.words[i] = 0;
    __asm__ volatile("" : : "r"(&u) : "memory");
    return u.number;
}

static real alloca_chain(real x, int depth)
{
    real *place = (real *)alloca(sizeof(real) * (size_t)(depth + 1));
    place[depth] = x;
    __asm__ volatile("" : : "r"(place) : "memory");
    return depth == 0 ? x : place[depth] + alloca_chain(x, depth - 1);
}

struct node { struct node *next; real value; };

static real list_sum(real x)
{
    struct node *list = NULL;
    for (int i = 1; i <= 10; i++) {
        struct node *n = (struct node *)malloc(sizeof *n);
        n->next = list, n->value = x * (real)i, list = n;
    }
    real sum = 0;
    while (list) {
        struct node *n = list;
        sum += n->value, list = n->next;
        free(n);
    }
    return sum;
}

static volatile real for_handler, from_handler;

static void handler(int number)
{
    (void)number;
    real squares[40];
    for (int i = 0; i < 40; i++) squares[i] = for_handler * (real)i;
    from_handler = squares[3] + squares[4];
}

/* The handler must not disturb what the interrupted code holds in registers. */
static real around_a_signal(real x)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, NULL);
    for_handler = x;
    real held = x * x;
    raise(SIGUSR1);
    return held + from_handler;
}

static ucontext_t main_context, other_context;
static real passed;

static void other(void)
{
    passed = passed * passed;
    swapcontext(&other_context, &main_context);
    passed = passed * 3;
}

static real between_contexts(real x)
{
    static char stack[65536];
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = sizeof stack;
    other_context.uc_link = &main_context;
    makecontext(&other_context, other, 0);
    passed = x;
    real held = 5 * x;
    swapcontext(&main_context, &other_context);
    held += passed;
    swapcontext(&main_context, &other_context);
    return held + passed;
}

static void checks(void)
{
    AT("structs", through_structs(x), 2 + 2 * w, 0.75, -2.5);
    AT("bytes", by_bytes(x), 1, 0.75, -2.5);
    AT("words", by_words(x), 1, 0.75, -2.5);
    for (size_t n = 2; n < 70000; n *= 5) AT("memcpy", by_memcpy(x, n), n - 1, 0.75, -2.5);
    AT("realloc", by_realloc(x), 2 * w, 0.75, -2.5);
    AT("mremap", by_mremap(x), 3, 0.75, -2.5);
    AT("rep-movs", by_string_moves(x), 1, 0.75, -2.5);
    AT("rep-stos", wiped_by_stores(x), 0, 0.75);
    AT("memset", wiped_by_memset(x), 0, 0.75);
    AT("read", wiped_by_read(x), 0, 1.5);
    AT("integer-stores", wiped_by_integer(x), 0, 0.75);
    AT("alloca", alloca_chain(x, 9), 10, 0.75, -2.5);
    AT("list", list_sum(x), 55, 0.75, -2.5);
    AT("signal", around_a_signal(x), 2 * w + 7, 0.75, -2.5);
    AT("contexts", between_contexts(x), 5 + 8 * w, 0.75, -2.5);
}
