// Floats in general registers: pushes, exchanges, compare-and-swap, byte permutations, the x87 stack.
//@ double only: the moves are 64 bits wide
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <ucontext.h>

static double pushed(double x)
{
    double result;
    __asm__ volatile("movq %1, %%rax\n\tsubq $128, %%rsp\n\tpushq %%rax\n\txorl %%eax, %%eax\n\tpopq %%rcx\n\t"
                     "addq $128, %%rsp\n\tmovq %%rcx, %0"
                     : "=x"(result)
                     : "x"(x)
                     : "rax", "rcx", "memory");
    return result;
}

static double pushed_from_memory(double x)
{
    double from = x, to = 0;
    __asm__ volatile("subq $128, %%rsp\n\tpushq (%0)\n\tpopq (%1)\n\taddq $128, %%rsp" : : "r"(&from), "r"(&to) : "memory");
    return to;
}

/* A system call returns in rax, and leaves most others alone. */
static double kept_by_a_call(double x)
{
    enum { GETPID = 39 };
    double result, other;
    __asm__ volatile("movq %2, %%rbx\n\tmovq %2, %%rdx\n\tmovl %3, %%eax\n\tsyscall\n\tmovq %%rbx, %0\n\tmovq %%rdx, %1"
                     : "=x"(result), "=x"(other)
                     : "x"(x), "i"(GETPID)
                     : "rax", "rbx", "rcx", "rdx", "r11", "memory");
    return result + 2 * other;
}

/* In four pieces, the last two bytes first. */
static double pushed_in_pieces(double x)
{
    double from = x, result;
    __asm__ volatile("subq $128, %%rsp\n\tmovzwl 6(%1), %%ecx\n\tpushw %%cx\n\tmovzwl 4(%1), %%ecx\n\tpushw %%cx\n\t"
                     "movzwl 2(%1), %%ecx\n\tpushw %%cx\n\tmovzwl (%1), %%ecx\n\tpushw %%cx\n\t"
                     "movsd (%%rsp), %0\n\taddq $136, %%rsp"
                     : "=x"(result)
                     : "r"(&from)
                     : "rcx", "memory");
    return result;
}

/* Flags are pushed over x, and all that is left is a number without a derivative. */
static double pushed_over(double x)
{
    double flags;
    __asm__ volatile("subq $128, %%rsp\n\tmovsd %1, -8(%%rsp)\n\tpushfq\n\tmovsd (%%rsp), %0\n\taddq $136, %%rsp"
                     : "=x"(flags)
                     : "x"(x)
                     : "memory");
    return 1 + flags;
}

static double exchanged(double x)
{
    double place = 2.5, result;
    __asm__ volatile("movq %1, %%rax\n\txchgq %%rax, (%2)\n\tmovq %%rax, %0" : "=x"(result) : "x"(x), "r"(&place) : "rax", "memory");
    return place * 3 + result;
}

static double exchanged_registers(double x)
{
    double result;
    __asm__ volatile("movq %1, %%rax\n\txorl %%ecx, %%ecx\n\txchgq %%rax, %%rcx\n\tmovq %%rcx, %0" : "=x"(result) : "x"(x) : "rax", "rcx");
    return result;
}

static double byte_swapped_twice(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    __asm__ volatile("bswap %0\n\tnop\n\tbswap %0" : "+r"(bits));
    memcpy(&x, &bits, 8);
    return x;
}

static double rotated_there_and_back(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    __asm__ volatile("rolq $16, %0\n\trorq $16, %0" : "+r"(bits));
    memcpy(&x, &bits, 8);
    return x;
}

static double complemented_twice(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    __asm__ volatile("notq %0\n\tnotq %0" : "+r"(bits));
    memcpy(&x, &bits, 8);
    return x;
}

static double conditionally_moved(double x, int which)
{
    double y = x * x, result;
    __asm__ volatile("movq %1, %%rax\n\tmovq %2, %%rcx\n\ttestl %3, %3\n\tcmovzq %%rcx, %%rax\n\tmovq %%rax, %0"
                     : "=x"(result)
                     : "x"(x), "x"(y), "r"(which)
                     : "rax", "rcx", "cc");
    return result;
}

static double swapped_in(double x)
{
    _Atomic uint64_t cell;
    double start = 1.5, result;
    uint64_t expected, wanted, end;
    memcpy(&expected, &start, 8);
    memcpy(&wanted, &x, 8);
    atomic_init(&cell, expected);
    if (!atomic_compare_exchange_strong(&cell, &expected, wanted)) abort();
    end = atomic_load(&cell);
    memcpy(&result, &end, 8);
    return result;
}

/* Old and new differ in nothing but their derivative: the loop must still end, and with the new one. */
static double swapped_same_value(double x)
{
    double cell = x, wanted = 2.5, result;
    uint64_t old, new_bits;
    memcpy(&old, &cell, 8);
    memcpy(&new_bits, &wanted, 8);
    __asm__ volatile("lock cmpxchgq %2, %0" : "+m"(cell), "+a"(old) : "r"(new_bits) : "cc", "memory");
    result = cell;
    return result;
}

struct two { double a, b; } __attribute__((aligned(16)));

static double swapped_pair(double x)
{
    struct two place = {1, 2};
    uint64_t low, high, one, two;
    double y = x * x;
    memcpy(&low, &x, 8);
    memcpy(&high, &y, 8);
    memcpy(&one, &place.a, 8);
    memcpy(&two, &place.b, 8);
    __asm__ volatile("lock cmpxchg16b %0" : "+m"(place), "+a"(one), "+d"(two) : "b"(low), "c"(high) : "cc", "memory");
    return place.a + 3 * place.b;
}

/* Between reading a pair and replacing it, the same number with another derivative was put there: the exchange must fail,
 * and the second one count from what is there. */
static double swapped_changed_pair(double x, double p)
{
    struct two place = {2, x};
    uint64_t one, two;
    unsigned char done;
    memcpy(&one, &place.a, 8);
    memcpy(&two, &place.b, 8);
    __asm__ volatile("" : "+r"(one), "+r"(two), "+m"(place));
    place.b = 4 * x - 3 * p;
    do {
        uint64_t low = one, high;
        double sum;
        memcpy(&sum, &two, 8);
        sum += 1;
        memcpy(&high, &sum, 8);
        __asm__ volatile("lock cmpxchg16b %0\n\tsete %1"
                         : "+m"(place), "=q"(done), "+a"(one), "+d"(two)
                         : "b"(low), "c"(high)
                         : "cc", "memory");
    } while (!done);
    return place.b;
}

/* As gcc combines maxima without optimisation: whether the exchange has failed is asked by comparing values. Between
 * reading and exchanging, the same number with another derivative was put there: no trace of the first one may stay. */
static double maximum_exchanged(double x, double p, double own)
{
    double place = x;
    uint64_t old, before;
    unsigned char done;
    memcpy(&old, &place, 8);
    __asm__ volatile("" : "+r"(old), "+m"(place));
    place = 4 * x - 3 * p;
    do {
        double most;
        uint64_t wanted;
        memcpy(&most, &old, 8);
        most = most > own ? most : own;
        memcpy(&wanted, &most, 8);
        __asm__ volatile("movq %0, %%rax\n\tlock cmpxchgq %4, %1\n\tmovq %0, %2\n\tmovq %%rax, %0\n\tcmpq %2, %%rax\n\tsete %3"
                         : "+&r"(old), "+m"(place), "=&r"(before), "=&q"(done)
                         : "r"(wanted)
                         : "rax", "cc", "memory");
    } while (!done);
    return place;
}

static double atomic_sum;

static void *adder(void *argument)
{
    double x = *(double *)argument;
    for (int i = 0; i < 1000; i++) {
        uint64_t old_bits, new_bits;
        double old, sum;
        do {
            old_bits = __atomic_load_n((uint64_t *)&atomic_sum, __ATOMIC_RELAXED);
            memcpy(&old, &old_bits, 8);
            sum = old + x;
            memcpy(&new_bits, &sum, 8);
        } while (!__atomic_compare_exchange_n((uint64_t *)&atomic_sum, &old_bits, new_bits, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    }
    return NULL;
}

/* Multiples of 1/4: every order of additions gives the same sum. */
static double added_by_threads(double x)
{
    pthread_t threads[3];
    double addends[3] = {x, 2 * x, x * 4};
    atomic_sum = 0;
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, adder, &addends[i]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return atomic_sum;
}

static double x87_stack(double x)
{
    double result;
    __asm__ volatile("fldl %1\n\tfld %%st(0)\n\tfmul %%st(1), %%st\n\tfld1\n\tfxch %%st(1)\n\tfaddp\n\tfsubp %%st, %%st(1)\n\tfstpl %0"
                     : "=m"(result)
                     : "m"(x));
    return result;
}

/* An integer load and store of the x87 unit moves 64 bits unchanged. */
static double x87_identity(double x)
{
    double result;
    __asm__ volatile("fildq %1\n\tfistpq %0" : "=m"(result) : "m"(x));
    return result;
}

static double x87_sine(double x)
{
    double result;
    __asm__ volatile("fldl %1\n\tfsin\n\tfstpl %0" : "=m"(result) : "m"(x));
    return result;
}

static double x87_cosine(double x)
{
    double result;
    __asm__ volatile("fldl %1\n\tfcos\n\tfstpl %0" : "=m"(result) : "m"(x));
    return result;
}

static double x87_tangent(double x)
{
    double result;
    __asm__ volatile("fldl %1\n\tfptan\n\tfstp %%st(0)\n\tfstpl %0" : "=m"(result) : "m"(x));
    return result;
}

static double x87_angle(double x)
{
    double result, three = 3;
    __asm__ volatile("fldl %1\n\tfldl %2\n\tfpatan\n\tfstpl %0" : "=m"(result) : "m"(x), "m"(three));
    return result;
}

static double x87_power(double x)
{
    double result;
    __asm__ volatile("fldl %1\n\tf2xm1\n\tfstpl %0" : "=m"(result) : "m"(x));
    return result;
}

static double x87_logarithm(double x)
{
    double result;
    __asm__ volatile("fld1\n\tfldl %1\n\tfyl2x\n\tfstpl %0" : "=m"(result) : "m"(x));
    return result;
}

/* The caller's r12 holds x while functions run that are taken as one operation, which preserve it. */
static double preserved(double x, double (*function)(double), long double (*long_function)(long double))
{
    register double kept __asm__("r12");
    __asm__ volatile("movq %1, %0" : "=r"(kept) : "x"(x));
    double computed = 0;
    for (int i = 0; i < 3; i++) {
        computed = function(x) + (double)long_function(x);
        __asm__ volatile("" : "+r"(kept));
    }
    double result;
    __asm__ volatile("movq %1, %0" : "=x"(result) : "r"(kept));
    return result + computed;
}

/* A function saves registers that hold x and a constant, and puts them back last; flags and rcx, of which x is made as well, are as it
 * has left them. By a return, and by a jump. */
static double saved(double x, double other)
{
    double result, passed;
    uint64_t count;
    __asm__ volatile("subq $128, %%rsp\n\tmovq %3, %%rbx\n\tmovq %4, %%rcx\n\tmovl $7, %%r12d\n\tcall 1f\n\tjmp 2f\n"
                     "1:\tpushq %%r12\n\tpushq %%rbx\n\tpushq %%r13\n\txorl %%ebx, %%ebx\n\tmovl $5, %%r12d\n\tcall 3f\n\t"
                     "stc\n\tpopq %%r13\n\tpopq %%rbx\n\tpopq %%r12\n\tret\n"
                     "3:\tpushq %%r12\n\tpushq %%r13\n\tstc\n\tpopq %%r13\n\tpopq %%r12\n\tjmp 4f\n"
                     "4:\tadcq $1, %%r12\n\tret\n"
                     "2:\tadcq $1, %%r12\n\taddq $128, %%rsp\n\tmovq %%rbx, %0\n\tmovq %%rcx, %1\n\tmovq %%r12, %2"
                     : "=x"(result), "=x"(passed), "=r"(count)
                     : "x"(x), "x"(other)
                     : "rbx", "rcx", "r12", "r13", "memory", "cc");
    return result + 3 * passed + (double)count;
}

static double all_saved(double x)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += saved(i % 2 ? x : 0.5, i > 1 ? x : 0.25);
    return sum;
}

static uint64_t *guarded;
static uint64_t counter_of_handler;

static void unlock(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    counter_of_handler = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RCX];
    mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}

/* Registers are popped from a page that may not be read yet, and rcx is seen by the handler. */
static double popped_over_a_fault(double x)
{
    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = unlock, .sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, &before);
    guarded = (uint64_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(guarded + 1, &x, 8);
    guarded[0] = 5;
    double result;
    uint64_t count;
    __asm__ volatile("leaq 1f(%%rip), %%rax\n\tmovq %%rax, 16(%2)" : "=m"(*guarded) : "m"(*guarded), "r"(guarded) : "rax", "memory");
    mprotect(guarded, 4096, PROT_NONE);
    __asm__ volatile("movq %%rsp, %%r14\n\tmovq %2, %%rsp\n\tmovl $77, %%ecx\n\tstc\n\tpopq %%r13\n\tpopq %%rbx\n\tret\n"
                     "1:\tadcq %%rcx, %%r13\n\tmovq %%r14, %%rsp\n\tmovq %%rbx, %0\n\tmovq %%r13, %1"
                     : "=x"(result), "=r"(count)
                     : "r"(guarded)
                     : "rbx", "rcx", "r13", "r14", "memory", "cc");
    sigaction(SIGSEGV, &before, NULL);
    munmap(guarded, 4096);
    return result + (double)count + (double)counter_of_handler;
}

static void checks(void)
{
    const wide ln2 = 0.693147180559945309417232121458176568L;
    AT("push-pop", pushed(x), 1, 0.75, -2.5);
    AT("push-pop-memory", pushed_from_memory(x), 1, 0.75, -2.5);
    AT("system-call", kept_by_a_call(x), 3, 0.75, -2.5);
    AT("push-pieces", pushed_in_pieces(x), 1, 0.75, -2.5);
    AT("push-flags^", pushed_over(x), 0, 0.75, -2.5);
    AT("xchg-memory", exchanged(x), 3, 0.75, -2.5);
    AT("xchg-registers", exchanged_registers(x), 1, 0.75, -2.5);
    AT("bswap-twice", byte_swapped_twice(x), 1, 0.75, -2.5);
    AT("rotate-and-back", rotated_there_and_back(x), 1, 0.75, -2.5);
    AT("not-twice", complemented_twice(x), 1, 0.75, -2.5);
    AT("cmov", conditionally_moved(x, 1) + 3 * conditionally_moved(x, 0), 1 + 6 * w, 0.75, -2.5);
    AT("cas", swapped_in(x), 1, 0.75, -2.5);
    AT("cas-to-constant^", swapped_same_value(x), 0, 0.75);
    AT("cas-pair", swapped_pair(x), 1 + 6 * w, 0.75, -2.5);
    AT("cas-changed-pair", swapped_changed_pair(x, p_), 4, 0.75, -2.5);
    AT("cas-maximum", maximum_exchanged(x, p_, 7 * x + 100), 7, 0.75, -2.5);
    AT("cas-other-maximum", maximum_exchanged(x, p_, 7 * x - 100), 4, 0.75, -2.5);
    AT("atomic-add-by-threads", added_by_threads(x), 7000, 0.75, -2.5);
    AT("x87-stack", x87_stack(x), 2 * w - 1, 0.75, -2.5);
    AT("x87-identity", x87_identity(x), 1, 0.75, -2.5);
    AT("saved-registers", all_saved(x), 8, 0.75, -2.5);
    AT("popped-over-a-fault", popped_over_a_fault(x), 1, 0.75, -2.5);
    AT("preserved-by-functions", preserved(x, sin, sinl), 1 + 2 * W(cos)(w), 0.75, -2.5);
    AT("preserved-by-exp", preserved(x, exp, expl), 1 + 2 * W(exp)(w), 0.75, -2.5);
    AT("fsin", x87_sine(x), W(cos)(w), 0.75, -2.5);
    AT("fcos", x87_cosine(x), -W(sin)(w), 0.75, -2.5);
    AT("fptan", x87_tangent(x), 1 / (W(cos)(w) * W(cos)(w)), 0.75, -1);
    AT("fpatan", x87_angle(x), 3 / (w * w + 9), 0.75, -2.5);
    AT("f2xm1", x87_power(x), ln2 * W(exp2)(w), 0.75, -0.5);
    AT("fyl2x", x87_logarithm(x), 1 / (w * ln2), 0.75, 2.5);
}
