/* Runs generated instruction sequences: randseq IN OUT.
 *
 * Freestanding, so that no libc touches TLS, vector registers or the address space behind the sequences' back. For each
 * case of IN it fills the data regions, loads every register, jumps to the case's code and writes what came out to OUT,
 * which is mapped shared: what was finished before a crash can be read. */
#include "wire.h"

#include <asm/prctl.h>
#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/ucontext.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

extern void enter_case(const struct state *);
extern void case_exit(void);
extern void handler_entry(void);
extern void handler_return(void);

/* Shared with enter.S. */
struct state out_state __attribute__((aligned(64)));
u64 harness_rsp, entry, isa;

static struct state in_state __attribute__((aligned(64)));
static u8 signal_stack[64 * 1024] __attribute__((aligned(64)));
static const struct file_header *header;
static const struct case_header *current; /* null outside a sequence */
static struct record *result;
static u64 zmm_hi_offset, zmm_high_offset, opmask_offset;

static long sys(long n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
    long ret;
    register u64 r10 __asm__("r10") = d;
    register u64 r8 __asm__("r8") = e;
    register u64 r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return ret;
}

static void copy(void *to, const void *from, u64 n) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static void zero(void *to, u64 n) {
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
}

static u64 length(const char *s) {
    u64 n = 0;
    while (s[n])
        n++;
    return n;
}

static void say(int fd, const char *text) { sys(__NR_write, fd, (u64)text, length(text), 0, 0, 0); }

static void say_number(int fd, u64 n) {
    char digits[21];
    char *p = digits + 20;
    *p = 0;
    do
        *--p = '0' + n % 10;
    while (n /= 10);
    say(fd, p);
}

static void fail(const char *what, u64 value) {
    say(2, "randseq: ");
    say(2, what);
    say(2, ": ");
    say_number(2, value);
    say(2, "\n");
    sys(__NR_exit_group, 2, 0, 0, 0, 0, 0);
    __builtin_unreachable();
}

static void *map(u64 addr, u64 size, u64 prot, u64 flags, int fd) {
    long got = sys(__NR_mmap, addr, size, prot, flags, fd, 0);
    if (got < 0 && got > -4096)
        fail("mmap refused at", addr);
    if (addr && (u64)got != addr)
        fail("mmap moved from", addr);
    return (void *)got;
}

static void protect(u64 addr, u64 size, u64 prot) {
    if (sys(__NR_mprotect, addr, size, prot, 0, 0, 0) != 0)
        fail("mprotect", addr);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static u64 mix(u64 x) {
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15UL;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9UL;
    return x ^ (x >> 32);
}

/* A word that instructions of all kinds find interesting: integers, doubles and pairs of floats of moderate size. */
static u64 interesting(u64 r) {
    switch (r & 7) {
    case 0: return (u64)((long)r >> 56);
    case 1: return (r & 0x800fffffffffffffUL) | 0x3ff0000000000000UL;
    case 2: return (r & 0x807fffff807fffffUL) | 0x3f8000003f800000UL;
    case 3: return (r & 0xc03fffffffffffffUL) | 0x3f80000000000000UL;
    case 4: return r & 0x00ff00000000ff00UL;
    case 5: return (r >> 8) & 1 ? 0 : ~0UL;
    default: return r;
    }
}

static void fill_regions(u64 seed) {
    for (u64 i = 0; i < header->regions; i++) {
        const struct region *r = &header->region[i];
        if (!(r->flags & REGION_FILL))
            continue;
        u64 *p = (u64 *)r->addr, base = mix(seed + i);
        for (u64 n = 0; n < r->size / 8; n++)
            p[n] = interesting(mix(base + n));
    }
}

static u64 hash_region(const struct region *r) {
    const u64 *p = (const u64 *)r->addr;
    u64 a = r->addr, b = ~r->addr;
    for (u64 n = 0; n < r->size / 8; n += 2) {
        a = (a ^ p[n]) * 0x9e3779b97f4a7c15UL;
        b = (b ^ p[n + 1]) * 0xbf58476d1ce4e5b9UL;
        a ^= a >> 32;
        b ^= b >> 29;
    }
    return mix(a) ^ b;
}

static void map_regions(void) {
    for (u64 i = 0; i < header->regions; i++) {
        const struct region *r = &header->region[i];
        map(r->addr, r->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
    }
    *(u64 *)header->exit_cell = (u64)case_exit;
    for (u64 i = 0; i < header->regions; i++)
        if (header->region[i].flags & REGION_READ_ONLY)
            protect(header->region[i].addr, header->region[i].size, PROT_READ);
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

static const struct case_header *next_case(const struct case_header *c) {
    return (const void *)(c->code + ((c->code_len + 63) & ~63UL));
}

static const struct case_header *first_case(void) { return (const void *)(header + 1); }

static void map_code(u64 prot) {
    map(header->code_base, header->code_size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
}

static void map_code_twice(void) {
    long fd = sys(__NR_memfd_create, (u64) "code", 0, 0, 0, 0, 0);
    if (fd < 0 || sys(__NR_ftruncate, fd, header->code_size, 0, 0, 0, 0) != 0)
        fail("memfd", -fd);
    map(header->code_base, header->code_size, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE, fd);
    map(header->alias_base, header->code_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd);
    sys(__NR_close, fd, 0, 0, 0, 0, 0);
}

static void prepare_code(void) {
    const struct case_header *c = first_case();
    switch (header->mode) {
    case CODE_FRESH:
        map_code(PROT_READ | PROT_WRITE);
        for (u64 i = 0; i < header->cases; i++, c = next_case(c))
            copy((void *)c->code_addr, c->code, c->code_len);
        protect(header->code_base, header->code_size, PROT_READ | PROT_EXEC);
        break;
    case CODE_RWX: map_code(PROT_READ | PROT_WRITE | PROT_EXEC); break;
    case CODE_DUAL: map_code_twice(); break;
    default: map_code(PROT_READ | PROT_EXEC);
    }
}

/* Other linear address, so the processor is only bound to notice at a serialising instruction. */
static void serialise(void) {
    unsigned a = 0, c = 0;
    __asm__ volatile("cpuid" : "+a"(a), "+c"(c) : : "rbx", "rdx", "memory");
}

static void place_code(const struct case_header *c) {
    switch (header->mode) {
    case CODE_RWX: copy((void *)c->code_addr, c->code, c->code_len); break;
    case CODE_FLIP:
        protect(header->code_base, header->code_size, PROT_READ | PROT_WRITE);
        copy((void *)c->code_addr, c->code, c->code_len);
        protect(header->code_base, header->code_size, PROT_READ | PROT_EXEC);
        break;
    case CODE_REMAP:
        sys(__NR_munmap, header->code_base, header->code_size, 0, 0, 0, 0);
        map_code(PROT_READ | PROT_WRITE);
        copy((void *)c->code_addr, c->code, c->code_len);
        protect(header->code_base, header->code_size, PROT_READ | PROT_EXEC);
        break;
    case CODE_DUAL:
        copy((void *)(c->code_addr - header->code_base + header->alias_base), c->code, c->code_len);
        serialise();
        break;
    }
}

/* ---- signals ----------------------------------------------------------------------------------------------------- */

static const u8 gpr_of_context[16] = {
    /* encoding order → word of struct sigcontext: r8-r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp */
    13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7,
};

static u64 xstate_offset(unsigned component) {
    unsigned a = 0xd, b, c = component, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return b;
}

/* Components that the frame says are in their initial state read as zero. */
static void state_of_frame(struct state *s, const u8 *fp) {
    const struct _fpx_sw_bytes *sw = (const void *)(fp + 464);
    copy(s->fx, fp, 416);
    for (int i = 0; i < 16; i++)
        copy(s->zmm[i], fp + 160 + 16 * i, 16);
    if (isa == ISA_SSE || sw->magic1 != FP_XSTATE_MAGIC1)
        return;
    u64 present = *(const u64 *)(fp + 512);
    for (int i = 0; i < 16; i++) {
        if (present & 4)
            copy(s->zmm[i] + 16, fp + 576 + 16 * i, 16);
        if (isa < ISA_AVX512)
            continue;
        if (present & 0x40)
            copy(s->zmm[i] + 32, fp + zmm_hi_offset + 32 * i, 32);
        if (present & 0x80)
            copy(s->zmm[16 + i], fp + zmm_high_offset + 64 * i, 64);
        if (present & 0x20 && i < 8)
            copy(&s->k[i], fp + opmask_offset + 8 * i, 8);
    }
}

static void record_fault(struct fault *f, int signo, const siginfo_t *info, const struct ucontext *uc) {
    const struct sigcontext *m = &uc->uc_mcontext;
    f->signo = signo;
    f->code = info->si_code;
    f->errnum = info->si_errno;
    f->addr = (u64)info->si_addr;
    f->rip = m->rip;
    f->trapno = m->trapno;
    f->err = m->err;
    f->cr2 = m->trapno == 14 ? m->cr2 : 0; /* otherwise left over from an earlier page fault */
    f->cs_gs_fs_ss = m->cs | (u64)m->gs << 16 | (u64)m->fs << 32 | (u64)m->ss << 48;
    f->uc_flags = uc->uc_flags;
    copy(&f->mask, &uc->uc_sigmask, 8);
    f->stack_sp = (u64)uc->uc_stack.ss_sp;
    f->stack_flags = uc->uc_stack.ss_flags;
    f->stack_size = uc->uc_stack.ss_size;
    for (int i = 0; i < 16; i++)
        f->state.gpr[i] = ((const u64 *)m)[gpr_of_context[i]];
    f->state.rflags = m->eflags;
    if (m->fpstate)
        state_of_frame(&f->state, (const u8 *)m->fpstate);
}

static void edit_context(struct ucontext *uc) {
    struct sigcontext *m = &uc->uc_mcontext;
    m->rax ^= 0x5a5a5a5a5a5a5a5aUL;
    m->eflags ^= 1;
    ((u8 *)m->fpstate)[160] ^= 0xff; /* xmm0 */
}

static u64 continuation(u64 rip) {
    for (u64 i = 0; i < current->resumes; i++)
        if (current->resume[i].fault == rip)
            return current->resume[i].next;
    return (u64)case_exit;
}

void handle_signal(int signo, siginfo_t *info, struct ucontext *uc) {
    if (!current)
        fail("signal outside a sequence", signo);
    u64 n = result->faults++;
    u64 next = n < header->max_faults ? continuation(uc->uc_mcontext.rip) : (u64)case_exit;
    if (n < header->max_faults)
        record_fault(&result->fault[n], signo, info, uc);
    if (n > header->max_faults)
        fail("signal while leaving a sequence", signo);
    if (next != (u64)case_exit && current->flags & CASE_EDIT_CONTEXT)
        edit_context(uc);
    uc->uc_mcontext.rip = next;
}

static void catch_signals(void) {
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    sys(__NR_sigaltstack, (u64)&stack, 0, 0, 0, 0, 0);
    static const int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    for (u64 i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction sa = {
            .sa_handler = (__sighandler_t)handler_entry,
            .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
            .sa_restorer = handler_return,
        };
        sys(__NR_rt_sigaction, caught[i], (u64)&sa, 0, 8, 0, 0);
    }
    if (isa == ISA_AVX512) {
        opmask_offset = xstate_offset(5);
        zmm_hi_offset = xstate_offset(6);
        zmm_high_offset = xstate_offset(7);
    }
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static void set_segment_bases(const struct state *s) {
    sys(__NR_arch_prctl, ARCH_SET_FS, s->fs_base, 0, 0, 0, 0);
    sys(__NR_arch_prctl, ARCH_SET_GS, s->gs_base, 0, 0, 0, 0);
}

static void run_case(const struct case_header *c) {
    place_code(c);
    fill_regions(c->mem_seed);
    copy(&in_state, &c->state, sizeof in_state);
    zero(&out_state, sizeof out_state);
    set_segment_bases(&in_state);
    entry = c->code_addr;
    current = c;
    enter_case(&in_state);
    current = 0;
    sys(__NR_arch_prctl, ARCH_GET_FS, (u64)&out_state.fs_base, 0, 0, 0, 0);
    sys(__NR_arch_prctl, ARCH_GET_GS, (u64)&out_state.gs_base, 0, 0, 0, 0);
    copy(&result->state, &out_state, sizeof out_state);
    for (u64 i = 0; i < header->regions; i++)
        if (header->region[i].flags & REGION_HASH)
            result->hash[i] = hash_region(&header->region[i]);
    result->status = 1;
}

static void dump_regions(u8 *to) {
    for (u64 i = 0; i < header->regions; i++) {
        copy(to, (void *)header->region[i].addr, header->region[i].size);
        to += header->region[i].size;
    }
}

static void run_all(u8 *out) {
    struct out_header *progress = (void *)out;
    const struct case_header *c = first_case();
    u64 faults = 0;
    progress->magic = OUT_MAGIC;
    for (u64 i = 0; i < header->cases; i++, c = next_case(c)) {
        result = (void *)(out + sizeof *progress + i * header->record_size);
        progress->started = i + 1;
        run_case(c);
        progress->finished = i + 1;
        faults += result->faults;
        if (i == header->dump_case)
            dump_regions(out + sizeof *progress + header->cases * header->record_size);
    }
    say(1, "cases ");
    say_number(1, header->cases);
    say(1, ", signals ");
    say_number(1, faults);
    say(1, "\n");
}

static void *map_file(const char *path, int writable) {
    long fd = sys(__NR_open, (u64)path, writable ? O_RDWR : O_RDONLY, 0, 0, 0, 0);
    if (fd < 0)
        fail("open failed", -fd);
    u64 size = sys(__NR_lseek, fd, 0, 2, 0, 0, 0);
    void *p = map(0, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, writable ? MAP_SHARED : MAP_PRIVATE, fd);
    sys(__NR_close, fd, 0, 0, 0, 0, 0);
    return p;
}

void harness_main(u64 *stack) {
    char **argv = (char **)(stack + 1);
    if (stack[0] != 3)
        fail("wants IN and OUT, arguments", stack[0]);
    header = map_file(argv[1], 0);
    if (header->magic != IN_MAGIC)
        fail("not a case file, magic", header->magic);
    isa = header->isa;
    catch_signals();
    map_regions();
    prepare_code();
    run_all(map_file(argv[2], 1));
    sys(__NR_exit_group, 0, 0, 0, 0, 0, 0);
}
