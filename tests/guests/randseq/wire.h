/* The two files the harness and the generator exchange. Everything is little-endian 64-bit words; the generator's side
 * of the same layout is tests/src/randseq/wire.rs and state.rs; a unit test there compares the numbers named here. */
#ifndef WIRE_H
#define WIRE_H

#define IN_MAGIC 0x31716573646e6172UL  /* "randseq1" */
#define OUT_MAGIC 0x32716573646e6172UL /* "randseq2" */
#define MAX_REGIONS 12
#define MAX_RESUMES 4

/* Offsets into struct state, for enter.S. */
#define ST_RFLAGS 128
#define ST_K 192
#define ST_FX 256
#define ST_ZMM 768
#define ST_SIZE 2816

#define ISA_SSE 0
#define ISA_AVX 1
#define ISA_AVX512 2

#ifndef __ASSEMBLER__

typedef unsigned long u64;
typedef unsigned char u8;

/* All that a user-mode instruction can see in registers. gpr is in encoding order: rax rcx rdx rbx rsp rbp rsi rdi r8… */
struct state {
    u64 gpr[16];
    u64 rflags, fs_base, gs_base, unused[5];
    u64 k[8];
    u8 fx[512]; /* FXSAVE64 image: x87, MXCSR, low halves of xmm0-15 */
    u8 zmm[32][64];
};

enum region_flag { REGION_FILL = 1, REGION_HASH = 2, REGION_READ_ONLY = 4 };

struct region {
    u64 addr, size, flags;
};

/* How code comes into being; all but the first reuse addresses, and so must throw old translations away. */
enum code_mode { CODE_FRESH, CODE_RWX, CODE_FLIP, CODE_REMAP, CODE_DUAL };

struct file_header {
    u64 magic, cases, mode, isa, max_faults, dump_case;
    u64 code_base, code_size, alias_base, exit_cell, regions, record_size;
    struct region region[MAX_REGIONS];
    u64 unused[16];
};

enum case_flag { CASE_EDIT_CONTEXT = 1 };

struct resume {
    u64 fault, next; /* a signal at rip `fault` continues at `next` */
};

struct case_header {
    u64 code_addr, code_len, mem_seed, flags, resumes, unused[3];
    struct resume resume[MAX_RESUMES];
    struct state state;
    u8 code[]; /* padded to 64 bytes */
};

struct fault {
    u64 signo, code, errnum, addr, rip, trapno, err, cr2;
    u64 cs_gs_fs_ss, uc_flags, mask, stack_sp, stack_flags, stack_size, unused[2];
    struct state state;
};

struct record {
    u64 status, faults, hash[MAX_REGIONS], unused[2];
    struct state state;
    struct fault fault[];
};

struct out_header {
    u64 magic, started, finished, unused[5];
};

_Static_assert(sizeof(struct state) == ST_SIZE, "enter.S counts on it");
_Static_assert(sizeof(struct file_header) == 512, "64 words");
_Static_assert(sizeof(struct case_header) == 128 + ST_SIZE, "code follows");
_Static_assert(sizeof(struct fault) == 128 + ST_SIZE, "16 words and the registers");
_Static_assert(sizeof(struct record) == 128 + ST_SIZE, "16 words and the registers");

#endif
#endif
