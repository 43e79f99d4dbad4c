// Code far from all other code, whose constants and variables are beside it, as compilers make it at run time.
#include "check.h"
#include <sys/mman.h>

#define PAGE 4096

/* Code, and after it its data: the distance between the two stays the same wherever they are copied to. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl far_start, far_end\n"
        "far_start:\n"
        "  mulsd far_three(%rip), %xmm0\n"
        "  addsd far_one(%rip), %xmm0\n"
        "  movsd %xmm0, far_cell(%rip)\n"
        "  mulsd far_cell(%rip), %xmm0\n"
        "  mov far_cell(%rip), %rax\n"
        "  mov %rax, far_other(%rip)\n"
        "  addsd far_other(%rip), %xmm0\n"
        "  andpd far_mask(%rip), %xmm0\n"
        "  sqrtsd far_cell(%rip), %xmm1\n"
        "  addsd %xmm1, %xmm0\n"
        "  fldl far_cell(%rip)\n"
        "  faddl far_one(%rip)\n"
        "  fstpl far_other(%rip)\n"
        "  addsd far_other(%rip), %xmm0\n"
        "  cvtsd2ss far_cell(%rip), %xmm2\n"
        "  movss %xmm2, far_other(%rip)\n"
        "  cvtss2sd far_other(%rip), %xmm2\n"
        "  ucomisd far_one(%rip), %xmm2\n"
        "  jb 1f\n"
        "  movapd %xmm0, %xmm3\n"
        "  unpcklpd far_one(%rip), %xmm3\n"
        "  movapd %xmm3, far_pair(%rip)\n"
        "  addpd far_pair(%rip), %xmm3\n"
        "  movlpd far_pair(%rip), %xmm4\n"
        "  movsd %xmm3, %xmm0\n"
        "  addsd %xmm4, %xmm0\n"
        "1:addsd %xmm2, %xmm0\n"
        "  incl far_count(%rip)\n"
        "  ret\n"
        "  .p2align 4\n"
        "far_mask: .quad 0x7fffffffffffffff, 0\n"
        "far_one: .double 1, 0\n"
        "far_pair: .double 0, 0\n"
        "far_three: .double 3\n"
        "far_cell: .double 0\n"
        "far_other: .double 0\n"
        "far_count: .quad 0\n"
        "far_end:\n");

extern char far_start[], far_end[];

static double (*far(void))(double)
{
    static void *place;
    if (!place) {
        place = mmap((void *)0x10000000000, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (place == MAP_FAILED) exit(1);
        memcpy(place, far_start, (size_t)(far_end - far_start));
    }
    double (*code)(double);
    memcpy(&code, &place, sizeof code);
    return code;
}

static void checks(void)
{
    /* With t = 3x + 1: 3 (t^2 + t + sqrt(t) + t + 1), and t rounded to a float. */
    for (int turn = 0; turn < 3; turn++)
        AT("far_code^", far()(x), 3 * (6 * (3 * w + 1) + 6 + 1.5L / sqrtl(3 * w + 1)) + 3, 0.5, 1.0, 2.75);
}
