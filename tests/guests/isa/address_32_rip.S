// eip-relative operands and code below 4 GB: what an x32 or a boot-loader-like program does.
//@ link: raw
        .text
        .globl  _start
_start:
        mov     number(%eip), %eax
        addl    $2, number(%eip)
        lea     number(%eip), %ebx
        add     (%rbx), %eax
        addr32 jmp *pointer(%eip)
        ud2
next:   sub     $42, %eax
        mov     %eax, %edi
        mov     $231, %eax
        syscall
        .data
        .balign 8
number: .long   20
pointer: .quad  next
        .section .note.GNU-stack,"",@progbits
