// The registers and the stack at the very first instruction, without libc.
//@ link: raw
//@ args: a bc
        .text
        .globl  _start
_start:
        mov     %rsp, %rbx
        // The ABI: rsp is a multiple of 16, rdx holds a function to register with atexit or nothing.
        test    $15, %rsp
        jnz     wrong
        test    %rdx, %rdx
        jnz     wrong
        // The kernel clears the other general registers.
        mov     %rax, %rcx
        or      %rbp, %rcx
        or      %rsi, %rcx
        or      %rdi, %rcx
        or      %r8, %rcx
        or      %r15, %rcx
        jnz     wrong
        cmpq    $3, (%rbx)
        jne     wrong
        mov     24(%rbx), %rax
        cmpw    $0x6362, (%rax)         // "bc"
        jne     wrong
        cmpq    $0, 32(%rbx)
        jne     wrong
        // Direction flag clear, x87 and SSE control words at their defaults.
        pushfq
        pop     %rax
        test    $0x400, %eax
        jnz     wrong
        stmxcsr -8(%rsp)
        cmpl    $0x1f80, -8(%rsp)
        jne     wrong
        fnstcw  -8(%rsp)
        cmpw    $0x37f, -8(%rsp)
        jne     wrong
        pxor    %xmm0, %xmm0
        pcmpeqb %xmm7, %xmm0
        pmovmskb %xmm0, %eax
        cmp     $0xffff, %eax
        jne     wrong
        mov     $1, %eax
        mov     $1, %edi
        lea     right(%rip), %rsi
        mov     $6, %edx
        syscall
        xor     %edi, %edi
        jmp     leave
wrong:
        mov     $1, %edi
leave:  mov     $231, %eax
        syscall
        .section .rodata
right:  .ascii  "right\n"
        .section .note.GNU-stack,"",@progbits
