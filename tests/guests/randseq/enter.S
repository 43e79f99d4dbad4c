# Into and out of a generated sequence, and the entry points the kernel needs.
#
# Every register belongs to the sequence, so both directions address their memory absolutely; the program is linked
# without relocation at a low address.
#include "wire.h"

    .intel_syntax noprefix
    .text

    .macro load_zmm_all
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    vmovdqu64 zmm\n, [rdi + ST_ZMM + 64 * \n]
    .endr
    .endm
    .macro store_zmm_all
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    vmovdqu64 [out_state + ST_ZMM + 64 * \n], zmm\n
    .endr
    .endm
    .macro load_ymm_all
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    vmovdqu ymm\n, [rdi + ST_ZMM + 64 * \n]
    .endr
    .endm
    .macro store_ymm_all
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    vmovdqu [out_state + ST_ZMM + 64 * \n], ymm\n
    .endr
    .endm

    .globl _start
_start:
    xor ebp, ebp
    mov rdi, rsp
    and rsp, -16
    call harness_main
    ud2

# void enter_case(const struct state *): returns when the sequence reaches case_exit; the outcome is in out_state.
    .globl enter_case
enter_case:
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    sub rsp, 8
    mov [harness_rsp], rsp
    fxrstor64 [rdi + ST_FX]
    cmp dword ptr [isa], ISA_AVX
    jb load_general
    je load_avx
    load_zmm_all
    .irp n, 0,1,2,3,4,5,6,7
    kmovq k\n, [rdi + ST_K + 8 * \n]
    .endr
    jmp load_general
load_avx:
    load_ymm_all
load_general:
    mov rax, [rdi]
    mov rcx, [rdi + 8]
    mov rdx, [rdi + 16]
    mov rbx, [rdi + 24]
    mov rbp, [rdi + 40]
    mov rsi, [rdi + 48]
    mov r8, [rdi + 64]
    mov r9, [rdi + 72]
    mov r10, [rdi + 80]
    mov r11, [rdi + 88]
    mov r12, [rdi + 96]
    mov r13, [rdi + 104]
    mov r14, [rdi + 112]
    mov r15, [rdi + 120]
    push qword ptr [rdi + ST_RFLAGS]
    popfq
    mov rsp, [rdi + 32]
    mov rdi, [rdi + 56]
    jmp qword ptr [entry]

    .globl case_exit
case_exit:
    mov [out_state], rax
    mov [out_state + 8], rcx
    mov [out_state + 16], rdx
    mov [out_state + 24], rbx
    mov [out_state + 32], rsp
    mov [out_state + 40], rbp
    mov [out_state + 48], rsi
    mov [out_state + 56], rdi
    mov [out_state + 64], r8
    mov [out_state + 72], r9
    mov [out_state + 80], r10
    mov [out_state + 88], r11
    mov [out_state + 96], r12
    mov [out_state + 104], r13
    mov [out_state + 112], r14
    mov [out_state + 120], r15
    mov rsp, [harness_rsp]
    pushfq
    pop qword ptr [out_state + ST_RFLAGS]
    push 0x202                  # DF and AC may be set
    popfq
    fxsave64 [out_state + ST_FX]
    cmp dword ptr [isa], ISA_AVX
    jb stored
    je store_avx
    store_zmm_all
    .irp n, 0,1,2,3,4,5,6,7
    kmovq [out_state + ST_K + 8 * \n], k\n
    .endr
    jmp stored
store_avx:
    store_ymm_all
stored:
    fninit                      # a pending unmasked x87 exception must not reach the next case
    add rsp, 8
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret

# The kernel leaves AC set in a handler; C code may be misaligned.
    .globl handler_entry
handler_entry:
    pushfq
    and dword ptr [rsp], ~0x40000
    popfq
    jmp handle_signal

    .globl handler_return
handler_return:
    mov eax, 15                 # rt_sigreturn
    syscall

    .section .note.GNU-stack, "", @progbits
