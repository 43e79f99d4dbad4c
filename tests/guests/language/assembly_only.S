// A program in assembly that uses system calls only: reads its input, turns it round, writes it.
//@ link: raw
//@ stdin: turned round
        .text
        .globl  _start
_start:
        xor     %eax, %eax
        xor     %edi, %edi
        lea     buffer(%rip), %rsi
        mov     $100, %edx
        syscall
        mov     %rax, %rcx
        lea     -2(%rsi,%rax), %rdi     // before the newline
        xchg    %rsi, %rdi
        cmp     %rdi, %rsi
        jbe     2f
1:      mov     (%rsi), %al
        xchg    (%rdi), %al
        mov     %al, (%rsi)
        inc     %rdi
        dec     %rsi
        cmp     %rdi, %rsi
        ja      1b
2:      mov     $1, %eax
        mov     $1, %edi
        lea     buffer(%rip), %rsi
        mov     %rcx, %rdx
        syscall
        mov     $60, %eax
        xor     %edi, %edi
        syscall
        .bss
buffer: .zero   100
        .section .note.GNU-stack,"",@progbits
