// Text relocations: the loader patches code before it runs, and makes the pages writable for it.
//@ link: pie
//@ flags: -Wl,-z,notext -Wa,--noexecstack
        .text
        .globl  main
main:
        sub     $8, %rsp
        movabs  $text, %rdi             // R_X86_64_64 in .text
        movabs  $puts, %rax
        call    *%rax
        movabs  pointer, %rax
        sub     $41, %eax
        add     $8, %rsp
        ret
        .globl  pointer
        .balign 8
pointer: .quad  41
text:   .asciz  "patched by the loader"
