// The AC flag set by the program: its own accesses are aligned, and nobody else's may be checked.
//@ link: raw
        .text
        .globl  _start
_start:
        pushfq
        orq     $0x40000, (%rsp)
        popfq
        mov     $300, %ebx
1:      mov     $39, %eax               // getpid
        syscall
        lea     2f(%rip), %rcx
        jmp     *%rcx
        ud2
2:      mov     $12, %eax               // brk
        xor     %edi, %edi
        syscall
        dec     %ebx
        jnz     1b
        xor     %eax, %eax
        cpuid
        pushfq
        pop     %rdi
        shr     $18, %edi
        and     $1, %edi
        xor     $1, %edi                // still set
        mov     $231, %eax
        syscall
        .section .note.GNU-stack,"",@progbits
